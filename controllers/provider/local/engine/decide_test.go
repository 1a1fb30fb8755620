// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// object is an extension object in some state.
func object(changes ...func(*gardenextensionsv1alpha1.Infrastructure)) *gardenextensionsv1alpha1.Infrastructure {
	o := &gardenextensionsv1alpha1.Infrastructure{}
	o.Spec.Type = "local"
	for _, change := range changes {
		change(o)
	}
	return o
}

func asks(operation string) func(*gardenextensionsv1alpha1.Infrastructure) {
	return func(o *gardenextensionsv1alpha1.Infrastructure) {
		o.Annotations = map[string]string{"gardener.cloud/operation": operation}
	}
}

func last(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*gardenextensionsv1alpha1.Infrastructure) {
	return func(o *gardenextensionsv1alpha1.Infrastructure) {
		o.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
	}
}

func deleted(o *gardenextensionsv1alpha1.Infrastructure) {
	o.DeletionTimestamp = new(metav1.NewTime(time.Unix(0, 0)))
}

func class(class gardenextensionsv1alpha1.ExtensionClass) func(*gardenextensionsv1alpha1.Infrastructure) {
	return func(o *gardenextensionsv1alpha1.Infrastructure) { o.Spec.Class = new(class) }
}

func TestMine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		object *gardenextensionsv1alpha1.Infrastructure
		want   bool
	}{
		"Local":      {reason: "an object of the type without a class is a shoot's", object: object(), want: true},
		"ShootClass": {reason: "the class of shoots may be written out", object: object(class("shoot")), want: true},
		"SeedClass":  {reason: "objects of a seed belong to another controller", object: object(class("seed"))},
		"OtherType":  {reason: "other types belong to other extensions", object: object(func(o *gardenextensionsv1alpha1.Infrastructure) { o.Spec.Type = "other" })},
		"Waiting":    {reason: "an object that waits for its state is ignored", object: object(asks("wait-for-state"))},
		"Asking":     {reason: "an object that asks is not", object: object(asks("reconcile")), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := engine.Mine(tc.object); got != tc.want {
				t.Errorf("%s\nMine(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	succeeded := last("Reconcile", "Succeeded")
	cases := map[string]struct {
		reason string
		before *gardenextensionsv1alpha1.Infrastructure
		after  *gardenextensionsv1alpha1.Infrastructure
		create bool
		update bool
	}{
		"New":       {reason: "a new object is acted on when it appears", before: object(), after: object(), create: true},
		"Done":      {reason: "an object whose last run succeeded is left alone", before: object(succeeded), after: object(succeeded)},
		"Failed":    {reason: "one whose last run did not is taken up when the controller starts", before: object(last("Create", "Error")), after: object(last("Create", "Error")), create: true},
		"Reconcile": {reason: "an object that asks is acted on", before: object(succeeded), after: object(succeeded, asks("reconcile")), create: true, update: true},
		"Migrate":   {reason: "so is one that is to be migrated", before: object(succeeded), after: object(succeeded, asks("migrate")), create: true, update: true},
		"Restore":   {reason: "so is one that is to be restored", before: object(succeeded), after: object(succeeded, asks("restore")), create: true, update: true},
		"Status":    {reason: "the status that a run writes does not start the next run", before: object(), after: object(last("Create", "Processing")), create: true},
		"Spec": {
			reason: "a changed spec alone starts nothing: the gardenlet decides when",
			before: object(succeeded), after: object(succeeded, func(o *gardenextensionsv1alpha1.Infrastructure) { o.Spec.Region, o.Generation = "other", 2 }),
		},
		"Deletion":       {reason: "deletion starts a run", before: object(succeeded), after: object(succeeded, deleted), create: true, update: true},
		"DeletionStatus": {reason: "the status of the deletion does not start another one", before: object(succeeded, deleted), after: object(last("Delete", "Processing"), deleted), create: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]bool{"create": tc.create, "update": tc.update}
			got := map[string]bool{"create": engine.StartsOnCreate(tc.after), "update": engine.StartsOnUpdate(tc.before, tc.after)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nevents that start a run (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		object *gardenextensionsv1alpha1.Infrastructure
		want   gardencorev1beta1.LastOperationType
	}{
		"First":             {reason: "without a last operation it is a creation", object: object(asks("reconcile")), want: "Create"},
		"Later":             {reason: "after a success it is a reconciliation", object: object(last("Create", "Succeeded")), want: "Reconcile"},
		"CreateAgain":       {reason: "a creation that did not succeed goes on as one", object: object(last("Create", "Error"), asks("reconcile")), want: "Create"},
		"RestoreAgain":      {reason: "so does a restoration", object: object(last("Restore", "Processing")), want: "Restore"},
		"MigrateAgain":      {reason: "and a migration", object: object(last("Migrate", "Error")), want: "Migrate"},
		"ReconcileAgain":    {reason: "a reconciliation as well", object: object(last("Reconcile", "Error")), want: "Reconcile"},
		"Delete":            {reason: "deletion comes before restoration", object: object(last("Create", "Succeeded"), deleted, asks("restore")), want: "Delete"},
		"MigrateInDeletion": {reason: "migration comes before deletion", object: object(last("Create", "Succeeded"), deleted, asks("migrate")), want: "Migrate"},
		"Restore":           {reason: "an object without a status may have one elsewhere", object: object(asks("restore")), want: "Restore"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, engine.Operation(tc.object)); diff != "" {
				t.Errorf("%s\nOperation(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
