// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/controllers/garden/self"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// reasonRefused marks what can only be done later or in another way.
const reasonRefused = "OperationRefused"

// operation is what the annotation of the Garden can ask for. The command line has another door to the same functions.
type operation struct {
	name string
	// may returns why it cannot be carried out now.
	may func(ctx context.Context) error
	// do carries it out. A second time it returns an error that wraps one of done.
	do   func(ctx context.Context) error
	done []error
}

// perform carries an operation out. What has been done already is no error.
func (o operation) perform(ctx context.Context) error {
	err := o.do(ctx)
	if slices.ContainsFunc(o.done, func(done error) bool { return errors.Is(err, done) }) {
		return nil
	}

	return err
}

// operations are those that this server can carry out.
func (d described) operations() []operation {
	return append(
		d.single(),
		operation{
			gardencorev1beta1.OperationRotateCredentialsStart,
			func(ctx context.Context) error { return d.mayRotateAll(ctx, false) },
			func(ctx context.Context) error { return d.rotateAll(ctx, false) }, nil,
		},
		operation{
			gardencorev1beta1.OperationRotateCredentialsComplete,
			func(ctx context.Context) error { return d.mayRotateAll(ctx, true) },
			func(ctx context.Context) error { return d.rotateAll(ctx, true) }, nil,
		},
	)
}

// single are the operations on one credential.
func (d described) single() []operation {
	nothing := func(context.Context) error { return nil }

	return []operation{
		{gardencorev1beta1.OperationReconcile, nothing, nothing, nil},
		{
			gardencorev1beta1.OperationRotateCAStart,
			func(context.Context) error { return d.mayStartAuthorities(d.on) },
			func(ctx context.Context) error { return d.startAuthorities(ctx, d.on) },
			[]error{identity.ErrRotating},
		},
		{
			gardencorev1beta1.OperationRotateCAComplete,
			func(ctx context.Context) error { _, err := d.mayCompleteAuthorities(ctx, d.on, false); return err },
			func(ctx context.Context) error { return d.completeAuthorities(ctx, d.on, false) },
			[]error{identity.ErrNotRotating, identity.ErrCompleting},
		},
		{
			gardencorev1beta1.OperationRotateServiceAccountKeyStart,
			func(context.Context) error { return d.mayStartTokenKeys(d.on) },
			func(context.Context) error { return d.startTokenKeys(d.on) },
			[]error{identity.ErrRotating},
		},
		{
			gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
			func(ctx context.Context) error { _, err := d.mayCompleteTokenKeys(ctx, d.on, false); return err },
			func(ctx context.Context) error { return d.completeTokenKeys(ctx, d.on, false) },
			[]error{identity.ErrNotRotating},
		},
		{
			gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyStart,
			func(context.Context) error { return d.mayStartWorkloadKeys(d.on) },
			func(context.Context) error { return d.startWorkloadKeys(d.on) },
			[]error{identity.ErrRotating},
		},
		{
			gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyComplete,
			func(ctx context.Context) error { return d.mayCompleteWorkloadKeys(ctx, d.on, false) },
			func(ctx context.Context) error { return d.completeWorkloadKeys(ctx, d.on, false) },
			[]error{identity.ErrNotRotating},
		},
		{
			gardencorev1beta1.OperationRotateETCDEncryptionKey,
			func(context.Context) error { return d.mayStartEncryption(d.on) },
			func(context.Context) error { return d.startEncryption(d.on) },
			[]error{identity.ErrRotating},
		},
		{
			gardencorev1beta1.OperationRotateObservabilityCredentials,
			func(ctx context.Context) error { _, err := d.monitoring(ctx); return err },
			d.rotateMonitoring, nil,
		},
	}
}

// possible returns why an operation cannot be carried out now.
func (d described) possible(ctx context.Context, name string) error {
	all := d.operations()
	i := slices.IndexFunc(all, func(o operation) bool { return o.name == name })
	if i < 0 {
		return fmt.Errorf("this server cannot do that; it can do: %s", strings.Join(names(all), ", "))
	}

	return all[i].may(ctx)
}

func names(all []operation) []string {
	var names []string
	for _, o := range all {
		names = append(names, o.name)
	}
	slices.Sort(names)

	return names
}

// operate carries out an operation. What has been done already is no error: a server that was killed repeats it.
func (d described) operate(ctx context.Context, name string) error {
	all := d.operations()
	i := slices.IndexFunc(all, func(o operation) bool { return o.name == name })
	if i < 0 {
		return kit.UserMustFix(reasonRefused, d.possible(ctx, name))
	}
	err := all[i].perform(ctx)
	if _, refused := errors.AsType[refusal](err); refused {
		return kit.UserMustFix(reasonRefused, err)
	}

	return err
}

// phases tells how far all rotations are, whoever has started them.
func (d described) phases(ctx context.Context) (self.Rotations, error) {
	is := self.Rotations{}
	var err error
	if is.ServiceAccountKey, err = d.tokenRotation(ctx, serviceAccountTokens(d.on.keys)); err != nil {
		return is, err
	}
	if is.WorkloadIdentityKey, err = d.tokenRotation(ctx, identityTokens(d.on.keys)); err != nil {
		return is, err
	}
	if is.EncryptionKey, err = d.encryptionRotation(); err != nil {
		return is, err
	}
	if is.CertificateAuthorities, err = d.authorityRotation(ctx); err != nil {
		return is, err
	}
	secret, err := d.monitoring(ctx)
	if _, unknown := errors.AsType[refusal](err); unknown {
		return is, nil
	}
	if err != nil {
		return is, err
	}
	seconds, err := strconv.ParseInt(secret.Labels[gardencorev1beta1.LabelSecretLastRotationInitiationTime], 10, 64)
	// A password that is as old as the Secret has not been rotated.
	if at := time.Unix(seconds, 0); err == nil && at.After(secret.CreationTimestamp.Time) {
		is.Observability, is.ObservabilityGoing = at, secret.Annotations[gardencorev1beta1.AnnotationOperation] != ""
	}

	return is, nil
}

// tokenRotation is how far the rotation of a key of tokens is: it prepares until all seeds have renewed theirs (OPER-ROT-7).
func (d described) tokenRotation(ctx context.Context, r tokenRenewal) (*self.Rotation, error) {
	if r.key == "" {
		return &self.Rotation{}, nil
	}
	if d.live.Load() == nil {
		return nil, nil //nolint:nilnil // It is not known yet who waits.
	}
	waiting, err := d.waitingForTokens(ctx, r)
	if err != nil {
		return nil, err
	}
	phase := gardencorev1beta1.CredentialsRotationPhasePrepared
	if len(waiting) > 0 {
		phase = gardencorev1beta1.CredentialsRotationPhasePreparing
	}

	return &self.Rotation{Phase: phase, Since: r.since}, nil
}

// encryptionRotation is how far the rotation of the encryption key is. Its second phase begins by itself (OPER-ROT-6).
func (d described) encryptionRotation() (*self.Rotation, error) {
	is, err := d.on.keys.Encryption.Rotation()
	if err != nil {
		return nil, fmt.Errorf("read rotation of the encryption key: %w", err)
	}
	switch {
	case is == nil:
		return &self.Rotation{}, nil
	case is.Rewritten == nil && is.Next != identity.EncryptionEnd:
		return &self.Rotation{Phase: gardencorev1beta1.CredentialsRotationPhasePreparing, Since: is.Started}, nil
	default:
		return &self.Rotation{Phase: gardencorev1beta1.CredentialsRotationPhaseCompleting, Since: is.Started}, nil
	}
}

// authorityRotation is how far the rotation of the authorities is.
func (d described) authorityRotation(ctx context.Context) (*self.Rotation, error) {
	if d.live.Load() == nil {
		return nil, nil //nolint:nilnil // It is not known yet who waits.
	}
	is, err := d.authorityStatus(ctx, d.on.keys)
	if err != nil {
		return nil, err
	}
	if is == nil {
		return &self.Rotation{}, nil
	}
	phase := map[string]gardencorev1beta1.CredentialsRotationPhase{
		authoritiesPreparing:  gardencorev1beta1.CredentialsRotationPhasePreparing,
		authoritiesPrepared:   gardencorev1beta1.CredentialsRotationPhasePrepared,
		authoritiesCompleting: gardencorev1beta1.CredentialsRotationPhaseCompleting,
	}[is.Phase]

	return &self.Rotation{Phase: phase, Since: is.Started}, nil
}

// monitoring returns the Secret with the credentials of monitoring. The error is a refusal if it cannot be said which one it is.
func (d described) monitoring(ctx context.Context) (*corev1.Secret, error) {
	live := d.live.Load()
	if live == nil {
		return nil, refusal{errors.New("the server is starting; try again")}
	}
	list := &corev1.SecretList{}
	err := (*live).List(ctx, list, client.InNamespace(gardencorev1beta1.NamespaceGarden),
		client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleGlobalMonitoring})
	if err != nil {
		return nil, fmt.Errorf("list credentials of monitoring: %w", err)
	}
	found := slices.DeleteFunc(list.Items, func(s corev1.Secret) bool {
		_, special := s.Labels[gardencorev1beta1.LabelPurpose]

		return special || s.DeletionTimestamp != nil
	})
	if len(found) != 1 {
		return nil, refusal{fmt.Errorf("there are %d Secrets with credentials of monitoring, and it needs one (docs/monitoring.md)", len(found))}
	}

	return &found[0], nil
}

// rotateMonitoring asks the controller of the credentials for a new password (OPER-ROT-8).
func (d described) rotateMonitoring(ctx context.Context) error {
	secret, err := d.monitoring(ctx)
	if err != nil || secret.Annotations[gardencorev1beta1.AnnotationOperation] != "" {
		return err
	}
	writer, err := client.New(d.api.Load().LoopbackConfig(), client.Options{})
	if err != nil {
		return fmt.Errorf("create client for credentials of monitoring: %w", err)
	}
	commit := kit.Begin(writer, secret)
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRotateObservabilityCredentials)

	return commit.WriteObject(ctx)
}
