// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/clock"
)

// answers is a plugin that gives one answer after the other.
type answers struct {
	*admission.Handler

	errs []error
	next int
}

func (a *answers) Validate(context.Context, admission.Attributes, admission.ObjectInterfaces) error {
	a.next++

	return a.errs[min(a.next, len(a.errs))-1]
}

func TestRecounting(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Err   error
		Asked int
	}

	conflict := func(resource string) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: resource}, "gardener", errors.New("changed"))
	}
	lost, other, exceeded := conflict("resourcequotas"), conflict("shoots"), errors.New("exceeded quota")
	cases := map[string]struct {
		reason string
		plugin string
		errs   []error
		want   error
		asked  int
	}{
		"Counted":     {"What fits is counted once.", resourcequota.PluginName, []error{nil}, nil, 1},
		"Lost":        {"A race for the quota is run again.", resourcequota.PluginName, []error{lost, lost, nil}, nil, 3},
		"LostForEver": {"It is not run for ever.", resourcequota.PluginName, []error{lost}, lost, 6},
		"Exceeded":    {"What does not fit is refused at once, also after a race.", resourcequota.PluginName, []error{lost, exceeded}, exceeded, 2},
		"Other":       {"Other conflicts are the user's.", resourcequota.PluginName, []error{other}, other, 1},
		"OtherPlugin": {"Other plugins are left alone.", "Other", []error{lost}, lost, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			plugin := &answers{Handler: admission.NewHandler(admission.Create), errs: tc.errs}
			decorated := recounting(clock.RealClock{}).Decorate(plugin, tc.plugin)
			err := decorated.(admission.ValidationInterface).Validate(t.Context(), creation(&user.DefaultInfo{Name: "somebody"}), nil)
			got, want := outcome{err, plugin.next}, outcome{tc.want, tc.asked}
			if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nValidate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// creation is the creation of a Secret in a dry run.
func creation(by user.Info) admission.Attributes {
	return admission.NewAttributesRecord(&corev1.Secret{}, nil, corev1.SchemeGroupVersion.WithKind("Secret"), "garden-a", "key",
		corev1.SchemeGroupVersion.WithResource("secrets"), "", admission.Create, nil, true, by)
}

// TestTrialsAreNotCounted: what the server shows to the webhooks of a provider is there already.
func TestTrialsAreNotCounted_API_RRM_2(t *testing.T) {
	t.Parallel()
	plugin := &answers{Handler: admission.NewHandler(admission.Create), errs: []error{errors.New("exceeded quota")}}
	decorated := recounting(clock.RealClock{}).Decorate(plugin, resourcequota.PluginName)
	for name, refused := range map[string]bool{user.APIServerUser: false, "somebody": true} {
		err := decorated.(admission.ValidationInterface).Validate(t.Context(), creation(&user.DefaultInfo{Name: name}), nil)
		if (err != nil) != refused {
			t.Errorf("Validate(a Secret in a dry run of %q) = %v, want an error: %t", name, err, refused)
		}
	}
}
