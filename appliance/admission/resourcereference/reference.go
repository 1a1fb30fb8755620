// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// reference is a field of an object that names another one.
type reference struct {
	path, kind string
	to         world.Target
	// readable references may only be made by who may read the object.
	readable bool
}

// introduced are the references that were not there before, wherever in the object they stand.
func introduced(now, before []reference) []reference {
	return slices.DeleteFunc(now, func(r reference) bool {
		return slices.ContainsFunc(before, func(was reference) bool { return was.kind == r.kind && was.to == r.to })
	})
}

// check looks at references and reports everything that is wrong with them.
func (r *rule) check(ctx context.Context, a admission.Attributes, references []reference) error {
	if len(references) == 0 {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		errs := make([]error, 0, len(references))
		for _, ref := range references {
			errs = append(errs, one(ctx, v, a, ref))
		}
		return errors.Join(errs...)
	})
}

func one(ctx context.Context, v world.View, a admission.Attributes, ref reference) error {
	name := ref.to.Name
	if ref.to.Namespace != "" {
		name = ref.to.Namespace + "/" + name
	}
	if ref.readable && !connects(a.GetUserInfo(), ref.to.Namespace) {
		allowed, err := v.May(ctx, a.GetUserInfo(), "get", ref.to)
		if err != nil {
			return err
		}
		if !allowed {
			return fmt.Errorf("%s: you may not read %s %q", ref.path, ref.kind, name)
		}
	}
	_, err := v.Metadata(ctx, ref.to)
	return world.Missing(err, ref.path, ref.kind, name)
}

// connects tells whether a user is a self-hosted shoot that is being connected, which may refer to everything in its
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
