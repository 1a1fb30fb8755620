// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	kindConfigMap = "ConfigMap"
	// referencedSet is the inventory of the copies.
	referencedSet = "referenced-resources"
)

// references are copies of the objects of the project that spec.resources of the shoot names, for extensions (EXT-CONV-3).
type references struct {
	credentials
}

func (r references) fragment(found remains) fragment {
	task := flow.Task{ID: "referenced-resources", Title: "Deploying the objects that the cluster refers to"}
	deploy, destroy := task, task
	deploy.After, deploy.Do = after("namespace"), r.deployAll
	destroy.Skip, destroy.Do = !found.namespace || len(r.facts.Shoot.Spec.Resources) == 0, r.refresh
	return fragment{deploy: []flow.Task{deploy}, destroy: []flow.Task{destroy}}
}

// deployAll writes the copies, and deletes those that the shoot does not name any more.
func (r references) deployAll(ctx context.Context) error {
	var copies []client.Object
	for i := range r.facts.Shoot.Spec.Resources {
		one := &r.facts.Shoot.Spec.Resources[i]
		obj, err := r.copyOf(ctx, one)
		if err != nil {
			return fmt.Errorf("resource %q of the shoot: %w", one.Name, err)
		}
		key := client.ObjectKeyFromObject(obj)
		if !slices.ContainsFunc(copies, func(c client.Object) bool {
			return client.ObjectKeyFromObject(c) == key && reflect.TypeOf(c) == reflect.TypeOf(obj)
		}) {
			copies = append(copies, obj)
		}
	}
	return r.engine().ApplySet(ctx, deploy.Set{Namespace: r.facts.Namespace, Name: referencedSet}, copies...)
}

// refresh does so for a deletion. When an object does not exist any more the copies of the last run are kept.
func (r references) refresh(ctx context.Context) error {
	err := r.deployAll(ctx)
	if lost, ok := errors.AsType[*missingCredentialsError](err); ok {
		ctrl.LoggerFrom(ctx).Info("An object that the shoot refers to is missing, its deletion continues with the last known one", "reason", lost.Error())
		return nil
	}
	return err
}

// copyOf returns the copy of an object: its data and nothing else. It is named for the object, not for its name within the shoot.
func (r references) copyOf(ctx context.Context, one *gardencorev1beta1.NamedResourceReference) (client.Object, error) {
	from := corev1.ObjectReference{Kind: one.ResourceRef.Kind, Namespace: r.facts.Shoot.Namespace, Name: one.ResourceRef.Name}
	// The version counts as well: whether the owner of the shoot may read an object was checked for the kind of that group.
	switch one.ResourceRef.APIVersion + "/" + from.Kind {
	case "v1/" + kindSecret:
		return r.read(ctx, gardencorev1beta1.SecretPrefixReference+from.Name, from)
	case gardensecurityv1alpha1.GroupVersion.String() + "/" + kindWorkloadIdentity:
		return r.read(ctx, gardencorev1beta1.SecretPrefixWorkloadIdentityReference+from.Name, from)
	case "v1/" + kindConfigMap:
		key, source := client.ObjectKey{Namespace: from.Namespace, Name: from.Name}, &corev1.ConfigMap{}
		if err := r.reader.Get(ctx, key, source); err != nil {
			return nil, missing(fmt.Errorf("get config map %q: %w", key, err))
		}
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: r.facts.Namespace, Name: gardencorev1beta1.SecretPrefixReference + from.Name},
			Data:       source.Data, BinaryData: source.BinaryData,
		}, nil
	default:
		return nil, lastoperation.WithCodes(
			&missingCredentialsError{error: fmt.Errorf("of kind %s %q, must be a %s, %s or %s", one.ResourceRef.APIVersion, from.Kind, kindSecret, kindConfigMap, kindWorkloadIdentity)},
			gardencorev1beta1.ErrorCodeConfigurationProblem,
		)
	}
}
