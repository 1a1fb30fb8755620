// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
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
func (r *Rotations) operations() []operation {
	return append(
		r.single(),
		operation{
			gardencorev1beta1.OperationRotateCredentialsStart,
			func(ctx context.Context) error { return r.mayRotateAll(ctx, false) },
			func(ctx context.Context) error { return r.rotateAll(ctx, false) }, nil,
		},
		operation{
			gardencorev1beta1.OperationRotateCredentialsComplete,
			func(ctx context.Context) error { return r.mayRotateAll(ctx, true) },
			func(ctx context.Context) error { return r.rotateAll(ctx, true) }, nil,
		},
	)
}

// single are the operations on one credential.
func (r *Rotations) single() []operation {
	nothing := func(context.Context) error { return nil }

	return []operation{
		{gardencorev1beta1.OperationReconcile, nothing, nothing, nil},
		{
			gardencorev1beta1.OperationRotateCAStart,
			func(context.Context) error { return r.Authorities.mayStart() },
			r.Authorities.start,
			[]error{identity.ErrRotating},
		},
		{
			gardencorev1beta1.OperationRotateCAComplete,
			func(ctx context.Context) error { _, err := r.Authorities.mayComplete(ctx, false); return err },
			func(ctx context.Context) error { return r.Authorities.complete(ctx, false) },
			[]error{identity.ErrNotRotating, identity.ErrCompleting},
		},
		{
			gardencorev1beta1.OperationRotateServiceAccountKeyStart,
			func(context.Context) error { return r.tokenKeys.mayStart() },
			func(context.Context) error { return r.tokenKeys.start() },
			[]error{identity.ErrRotating},
		},
		{
			gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
			func(ctx context.Context) error { _, err := r.tokenKeys.mayComplete(ctx, false); return err },
			func(ctx context.Context) error { return r.tokenKeys.complete(ctx, false) },
			[]error{identity.ErrNotRotating},
		},
		{
			gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyStart,
			func(context.Context) error { return r.workloadKeys.mayStart() },
			func(context.Context) error { return r.workloadKeys.start() },
			[]error{identity.ErrRotating},
		},
		{
			gardenoperatorv1alpha1.OperationRotateWorkloadIdentityKeyComplete,
			func(ctx context.Context) error { return r.workloadKeys.mayComplete(ctx, false) },
			func(ctx context.Context) error { return r.workloadKeys.complete(ctx, false) },
			[]error{identity.ErrNotRotating},
		},
		{
			gardencorev1beta1.OperationRotateETCDEncryptionKey,
			func(context.Context) error { return r.Encryption.mayStart() },
			func(context.Context) error { return r.Encryption.start() },
			[]error{identity.ErrRotating},
		},
		{
			gardencorev1beta1.OperationRotateObservabilityCredentials,
			func(ctx context.Context) error { _, err := r.monitoring.secret(ctx); return err },
			r.monitoring.rotate, nil,
		},
	}
}

// Possible returns why an operation cannot be carried out now.
func (r *Rotations) Possible(ctx context.Context, name string) error {
	all := r.operations()
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

// Operate carries out an operation. What has been done already is no error: a server that was killed repeats it. It may do so before all
// its parts are there, which is no reason to give the operation up (OPER-REC-4).
func (r *Rotations) Operate(ctx context.Context, name string) error {
	all := r.operations()
	i := slices.IndexFunc(all, func(o operation) bool { return o.name == name })
	if i < 0 {
		return kit.UserMustFix(reasonRefused, r.Possible(ctx, name))
	}
	err := all[i].perform(ctx)
	if _, refused := errors.AsType[RefusedError](err); refused && !errors.Is(err, errStarting) {
		return kit.UserMustFix(reasonRefused, err)
	}

	return err
}
