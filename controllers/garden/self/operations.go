// SPDX-License-Identifier: Apache-2.0

package self

import (
	"context"
	"fmt"
	"slices"
	"strings"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/operator/validation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// operations carries out what the annotation asks for, one after the other. An operation that fails stays in the annotation and is
// tried again; one that is refused does not.
func (r *Reconciler) operations(ctx context.Context, p *pass) error {
	for _, name := range validation.Operations(p.garden) {
		p.asked = true
		err := r.Server.Operate(ctx, name)
		if _, final := kit.UserReason(err); final {
			p.refused = append(p.refused, fmt.Errorf("%s: %w", name, err))
			err = nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.done = append(p.done, name)
		logf.FromContext(ctx).Info("Operation of the Garden carried out", "operation", name, "refused", len(p.refused) > 0)
	}

	return nil
}

// answer takes what was done off the annotation. It comes after the status: if the server is killed in between, an operation is
// repeated, which changes nothing, and is not lost (OPER-REC-4).
func (r *Reconciler) answer(ctx context.Context, p *pass) error {
	if len(p.done) == 0 {
		return nil
	}
	left := slices.DeleteFunc(validation.Operations(p.garden), func(name string) bool { return slices.Contains(p.done, name) })
	if len(left) == 0 {
		delete(p.garden.Annotations, gardencorev1beta1.AnnotationOperation)
	} else {
		p.garden.Annotations[gardencorev1beta1.AnnotationOperation] = strings.Join(left, gardencorev1beta1.OperationSeparator)
	}

	return p.commit.WriteObject(ctx)
}
