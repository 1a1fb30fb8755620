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
// tried again; answer says how long one that is refused does. What an operation for all credentials does is not done once more for itself
// (OPER-ROT-4), but if that one is refused: then each that is asked for by itself counts.
func (r *Reconciler) operations(ctx context.Context, p *pass) error {
	asked := validation.Operations(p.garden)
	todo := slices.DeleteFunc(slices.Clone(asked), func(name string) bool {
		return slices.ContainsFunc(asked, func(all string) bool { return validation.Covers(all, name) })
	})
	p.asked = p.asked || len(todo) > 0
	for ; len(todo) > 0; todo = todo[1:] {
		name := todo[0]
		err := r.Server.Operate(ctx, name)
		if _, refused := kit.UserReason(err); refused {
			p.refused = append(p.refused, refusal{name, err})
			todo = append(todo, covered(asked, name)...)
			logf.FromContext(ctx).Info("Operation of the Garden refused", "operation", name, "reason", err.Error())

			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.done = append(append(p.done, name), covered(asked, name)...)
		logf.FromContext(ctx).Info("Operation of the Garden carried out", "operation", name)
	}

	return nil
}

// covered returns the operations that an operation for all credentials consists of.
func covered(asked []string, all string) []string {
	return slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return !validation.Covers(all, name) })
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
// else: the next pass would not know of it, and would tell only of what it has tried itself. So it is tried again too, as long as it is asked for.
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
	left := slices.DeleteFunc(validation.Operations(p.garden), func(name string) bool { return slices.Contains(over, name) })
	if len(left) == 0 {
		delete(p.garden.Annotations, gardencorev1beta1.AnnotationOperation)
	} else {
		p.garden.Annotations[gardencorev1beta1.AnnotationOperation] = strings.Join(left, gardencorev1beta1.OperationSeparator)
	}

	return p.commit.WriteObject(ctx)
}
