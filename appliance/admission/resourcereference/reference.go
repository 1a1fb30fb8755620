// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// reference is a field of an object that refers to another one.
type reference struct {
	path, kind string
	to         world.Target
	// readable says that the user must be able to read the object.
	readable bool
	// living says that the object must not be in deletion.
	living bool
}

// introduced returns the references that the old object does not have in any of its fields. Who could name an object where it need not be
// readable cannot go on to name it where it must be.
func introduced(now, before []reference) []reference {
	readable := make(map[object]bool, len(before))
	for _, r := range before {
		readable[r.object()] = readable[r.object()] || r.readable
	}
	return slices.DeleteFunc(now, func(r reference) bool {
		enough, known := readable[r.object()]
		return known && (enough || !r.readable)
	})
}

// check checks references and reports all errors. Each object is looked up once, even if there are several references to it,
// and once more only if it is missing in the cached view.
func (r *rule) check(ctx context.Context, a admission.Attributes, references []reference) error {
	doubted := doubt(ctx, r.world.Cached(), a, distinct(references))
	if len(doubted) == 0 {
		return nil
	}
	fresh := r.world.Fresh()
	errs := make([]error, 0, len(doubted))
	for _, ref := range doubted {
		errs = append(errs, one(ctx, fresh, a, ref))
	}
	return world.Answer(a, errors.Join(errs...))
}

// doubt returns the references that seem to be invalid.
func doubt(ctx context.Context, v world.View, a admission.Attributes, references []reference) []reference {
	return slices.DeleteFunc(references, func(ref reference) bool { return one(ctx, v, a, ref) == nil })
}

// distinct returns the first reference to each object; it is readable if any reference to the object is.
func distinct(references []reference) []reference {
	all := make([]reference, 0, len(references))
	at := make(map[object]int, len(references))
	for _, r := range references {
		i, found := at[r.object()]
		if !found {
			at[r.object()] = len(all)
			all = append(all, r)
			continue
		}
		all[i].readable, all[i].living = all[i].readable || r.readable, all[i].living || r.living
	}
	return all
}

// object identifies the object of references.
type object struct {
	kind string
	to   world.Target
}

func (r reference) object() object { return object{r.kind, r.to} }

func one(ctx context.Context, v world.View, a admission.Attributes, ref reference) error {
	name := ref.to.Name
	if ref.to.Namespace != "" {
		name = ref.to.Namespace + "/" + name
	}
	if ref.readable && !connects(a.GetUserInfo(), ref.to.Namespace) {
		if err := entitled(ctx, v, a.GetUserInfo(), ref, name); err != nil {
			return err
		}
	}
	found, err := v.Metadata(ctx, ref.to)
	if err != nil || !ref.living {
		return world.Missing(err, ref.path, ref.kind, name)
	}
	return stays(found, ref.path, ref.kind)
}

// stays returns an error for an object that is being deleted: nothing would keep it for those that begin to use it now.
func stays(found metav1.Object, path, kind string) error {
	if found.GetDeletionTimestamp() == nil {
		return nil
	}
	name := found.GetName()
	if found.GetNamespace() != "" {
		name = found.GetNamespace() + "/" + name
	}
	return fmt.Errorf("%s: %s %q is being deleted", path, kind, name)
}

// unending has references refuse objects that are being deleted.
func unending(all []reference) []reference {
	for i := range all {
		all[i].living = true
	}
	return all
}

// entitled returns an error if a user may not hand an object on. Who may read a Secret has what is in it. An identity has nothing in it: everybody
// who may look at a project, or at the whole garden, may read its identities, and must not get at the clouds that trust them by a shoot of his own.
func entitled(ctx context.Context, v world.View, who user.Info, ref reference, name string) error {
	allowed, err := v.May(ctx, who, "get", ref.to)
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf("%s: you may not read %s %q", ref.path, ref.kind, name)
	}
	if ref.to.Group != gardensecurityv1alpha1.GroupName || ref.to.Resource != "workloadidentities" {
		return nil
	}
	token := ref.to
	token.Subresource = "token"
	for verb, what := range map[string]world.Target{"update": ref.to, "create": token} {
		if allowed, err = v.May(ctx, who, verb, what); err != nil || allowed {
			return err
		}
	}
	return fmt.Errorf("%s: you may read %s %q, but not use it: that takes the permission to update it, or to create workloadidentities/token of it",
		ref.path, ref.kind, name)
}

// connects reports whether a user is a self-hosted shoot that is being connected, which may refer to all objects in its
// namespace (API-RRM-2).
func connects(who user.Info, namespace string) bool {
	rest, ok := strings.CutPrefix(who.GetName(), gardencorev1beta1.UserPrefixGardenadmShoot)
	own, _, _ := strings.Cut(rest, ":")
	return ok && namespace != "" && own == namespace
}

func garden(resource, namespace, name string) world.Target {
	return world.Target{
		Group: gardencorev1beta1.GroupName, Version: gardencorev1beta1.GroupVersion.Version, Resource: resource,
		Namespace: namespace, Name: name,
	}
}

func secret(namespace, name string) world.Target {
	return world.Target{Version: "v1", Resource: "secrets", Namespace: namespace, Name: name}
}
