// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	pollInterval = 500 * time.Millisecond
	// imagePatience is how long a missing image is waited for: long enough for an image that is being loaded,
	// short enough to tell the user soon.
	imagePatience = 30 * time.Second
)

// NotReadyError says what was still missing when a wait ended.
type NotReadyError struct {
	// Reasons has a sentence for each object that is not ready or not gone.
	Reasons []string
	// Cause is why the wait ended; it is nil if waiting longer would not help.
	Cause error
}

// Error lists the reasons.
func (e *NotReadyError) Error() string {
	return strings.Join(e.Reasons, "; ")
}

// Unwrap returns why the wait ended.
func (e *NotReadyError) Unwrap() error {
	return e.Cause
}

// WaitReady waits until every object exists and is ready. It ends with a NotReadyError when the context ends, or earlier if an
// image could not be pulled for half a minute.
func (e Engine) WaitReady(ctx context.Context, objs ...client.Object) error {
	var missingImage time.Time
	return e.poll(ctx, func(ctx context.Context) ([]string, error) {
		reasons, noImage, err := e.missing(ctx, objs)
		if err != nil {
			return nil, err
		}
		if !noImage {
			missingImage = time.Time{}
			return reasons, nil
		}
		if missingImage.IsZero() {
			missingImage = e.Clock.Now()
		}
		if e.Clock.Since(missingImage) >= imagePatience {
			return nil, &NotReadyError{Reasons: reasons}
		}
		return reasons, nil
	})
}

// missing gives a reason for each object that is not ready, and reports whether an image is missing.
func (e Engine) missing(ctx context.Context, objs []client.Object) (reasons []string, noImage bool, err error) {
	for _, obj := range objs {
		u, err := e.get(ctx, obj)
		if err != nil {
			return nil, false, err
		}
		if u == nil {
			reasons = append(reasons, fmt.Sprintf("%s %q does not exist", kindOf(obj), obj.GetName()))
			continue
		}
		ready, reason := Ready(u)
		if ready {
			continue
		}
		if t, found := e.workloadTrouble(ctx, u); found {
			reason += ": " + t.text
			noImage = noImage || t.image
		}
		reasons = append(reasons, fmt.Sprintf("%s %q is not ready: %s", u.GetKind(), u.GetName(), reason))
	}
	return reasons, noImage, nil
}

// WaitStopped waits until nothing of the workloads among the objects runs any more. It does not wait until the node has tidied up after
// their last containers.
func (e Engine) WaitStopped(ctx context.Context, objs ...client.Object) error {
	return e.poll(ctx, func(ctx context.Context) ([]string, error) {
		var reasons []string
		for _, obj := range objs {
			u, err := e.get(ctx, obj)
			if err != nil {
				return nil, err
			}
			if u == nil {
				continue
			}
			pods, err := e.podsOf(ctx, u)
			if err != nil {
				return nil, err
			}
			for i := range pods {
				if !over(&pods[i]) {
					reasons = append(reasons, fmt.Sprintf("pod %q of %s is still there", pods[i].Name, describe(u)))
				}
			}
		}
		return reasons, nil
	})
}

// over reports whether all containers of a pod in deletion have ended. Its node says so only then.
func over(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed)
}

// WaitGone waits until none of the objects exists any more.
func (e Engine) WaitGone(ctx context.Context, objs ...client.Object) error {
	return e.poll(ctx, func(ctx context.Context) ([]string, error) {
		return e.remaining(ctx, objs)
	})
}

// remaining gives a sentence for each object that still exists.
func (e Engine) remaining(ctx context.Context, objs []client.Object) ([]string, error) {
	var reasons []string
	for _, obj := range objs {
		u, err := e.get(ctx, obj)
		if err != nil {
			return nil, err
		}
		if u == nil {
			continue
		}
		reason := fmt.Sprintf("%s %q still exists", u.GetKind(), u.GetName())
		if finalizers := u.GetFinalizers(); len(finalizers) > 0 {
			reason += " and waits for " + strings.Join(finalizers, ", ")
		}
		reasons = append(reasons, reason)
	}
	return reasons, nil
}

// poll asks until there is nothing left to wait for. An answer that will not change ends it. Other errors are a reason to ask
// again, because an API server may restart while its objects are fine.
func (e Engine) poll(ctx context.Context, ask func(ctx context.Context) ([]string, error)) error {
	err := flow.Until(ctx, e.Clock, flow.Every(pollInterval), func(ctx context.Context) error {
		reasons, err := ask(ctx)
		switch {
		case err != nil && final(err):
			return flow.Final(err)
		case err != nil:
			return &NotReadyError{Reasons: []string{err.Error()}}
		case len(reasons) > 0:
			return &NotReadyError{Reasons: reasons}
		default:
			return nil
		}
	})
	ended, cutOff := errors.AsType[*flow.EndedError](err)
	if notReady, ok := errors.AsType[*NotReadyError](err); ok && cutOff {
		notReady.Cause = ended.Cause
		return notReady
	}
	return err
}

func final(err error) bool {
	var notReady *NotReadyError
	return errors.As(err, &notReady) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err)
}
