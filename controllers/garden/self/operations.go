// SPDX-License-Identifier: Apache-2.0

package self

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/operator/validation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// refusal is an operation that cannot be carried out, and why.
type refusal struct {
	operation string
	reason    error
}

// operations carries out what the annotation asks for, one after the other. An operation that fails stays in the annotation and is
// tried again; answer says how long one that is refused does. What an operation for all credentials does is not done once more for itself (OPER-ROT-4).
func (r *Reconciler) operations(ctx context.Context, p *pass) error {
	asked := validation.Operations(p.garden)
	for _, name := range asked {
		if slices.ContainsFunc(asked, func(all string) bool { return validation.Covers(all, name) }) {
			continue
		}
		p.asked = true
		err := r.Server.Operate(ctx, name)
		_, refused := kit.UserReason(err)
		switch {
		case refused:
			p.refused = append(p.refused, refusal{name, err})
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		default:
			p.done = append(p.done, name)
		}
		if refused {
			logf.FromContext(ctx).Info("Operation of the Garden refused", "operation", name, "reason", err.Error())
		} else {
			logf.FromContext(ctx).Info("Operation of the Garden carried out", "operation", name)
		}
	}

	return nil
}

// refusals says which operations cannot be carried out, and why.
func (p *pass) refusals() error {
	var errs []error
	for _, r := range p.refused {
		errs = append(errs, fmt.Errorf("%s: %w", r.operation, r.reason))
	}

	return errors.Join(errs...)
}

// answer takes what was done off the annotation. It comes after the status: if the server is killed in between, an operation is
// repeated, which changes nothing, and is not lost (OPER-REC-4). What was refused stays as long as the pass is repeated for something
// else: the next pass would not know of it, and would tell only of what it has tried itself.
func (r *Reconciler) answer(ctx context.Context, p *pass) error {
	over := slices.Clone(p.done)
	if p.failed == nil {
		for _, refused := range p.refused {
			over = append(over, refused.operation)
		}
	}
	if len(over) == 0 {
		return nil
	}
	left := slices.DeleteFunc(validation.Operations(p.garden), func(name string) bool {
		return slices.ContainsFunc(over, func(is string) bool { return is == name || validation.Covers(is, name) })
	})
	if len(left) == 0 {
		delete(p.garden.Annotations, gardencorev1beta1.AnnotationOperation)
	} else {
		p.garden.Annotations[gardencorev1beta1.AnnotationOperation] = strings.Join(left, gardencorev1beta1.OperationSeparator)
	}

	return p.commit.WriteObject(ctx)
}
