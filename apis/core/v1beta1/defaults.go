// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RegisterDefaults registers the functions that set the defaults of objects. It is for API servers only: clients must see
// objects as they are stored.
func RegisterDefaults(scheme *runtime.Scheme) {
	defaults(scheme, &BackupBucket{}, &BackupBucketList{}, SetDefaultsBackupBucket,
		func(l *BackupBucketList) []BackupBucket { return l.Items })
	defaults(scheme, &CloudProfile{}, &CloudProfileList{}, SetDefaultsCloudProfile,
		func(l *CloudProfileList) []CloudProfile { return l.Items })
	defaults(scheme, &ControllerRegistration{}, &ControllerRegistrationList{}, SetDefaultsControllerRegistration,
		func(l *ControllerRegistrationList) []ControllerRegistration { return l.Items })
	defaults(scheme, &NamespacedCloudProfile{}, &NamespacedCloudProfileList{}, SetDefaultsNamespacedCloudProfile,
		func(l *NamespacedCloudProfileList) []NamespacedCloudProfile { return l.Items })
	defaults(scheme, &Project{}, &ProjectList{}, SetDefaultsProject, func(l *ProjectList) []Project { return l.Items })
	defaults(scheme, &SecretBinding{}, &SecretBindingList{}, SetDefaultsSecretBinding,
		func(l *SecretBindingList) []SecretBinding { return l.Items })
	defaults(scheme, &Seed{}, &SeedList{}, SetDefaultsSeed, func(l *SeedList) []Seed { return l.Items })
	defaults(scheme, &Shoot{}, &ShootList{}, SetDefaultsShoot, func(l *ShootList) []Shoot { return l.Items })
}

// defaults registers set for a kind and, item by item, for its list.
func defaults[T any, L any](
	scheme *runtime.Scheme, one, many runtime.Object, set func(*T), items func(*L) []T,
) {
	scheme.AddTypeDefaultingFunc(one, func(obj any) {
		if o, ok := obj.(*T); ok {
			set(o)
		}
	})
	scheme.AddTypeDefaultingFunc(many, func(obj any) {
		l, ok := obj.(*L)
		if !ok {
			return
		}
		all := items(l)
		for i := range all {
			set(&all[i])
		}
	})
}

// setDefault gives a field that is absent a value.
func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// ensure makes an absent section present, so that its own fields can be filled.
func ensure[T any](section **T) *T {
	if *section == nil {
		*section = new(T)
	}
	return *section
}

func lasting(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
