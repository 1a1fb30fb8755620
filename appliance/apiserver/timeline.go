// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"

	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

// timelineSettings configures who reads timelines, and who reports.
func (c *completed) timelineSettings(
	recorder *timeline.Recorder, readers authorizer.Authorizer, client kubernetes.Interface,
) timeline.Settings {
	return timeline.Settings{
		Store: c.Timeline, Recorder: recorder, Authorizer: readers, Clock: c.Clock,
		Born: func(ctx context.Context, namespace string) (time.Time, error) {
			found, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return time.Time{}, nil
			}
			if err != nil {
				return time.Time{}, fmt.Errorf("read namespace of timelines: %w", err)
			}

			return found.CreationTimestamp.Time, nil
		},
		Client: func(who user.Info) (timeline.Client, bool) {
			client, ok := seedclient.Of(who)

			return timeline.Client{Seed: client.Seed, Gardenlet: !client.Extension}, ok
		},
	}
}
