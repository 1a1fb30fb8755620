// SPDX-License-Identifier: Apache-2.0

package extensionlabels

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// labels collects label keys; an empty type adds none.
type labels map[string]bool

func (l labels) add(prefix string, types ...string) {
	for _, t := range types {
		if t = strings.TrimSpace(t); t != "" {
			l[prefix+t] = true
		}
	}
}

// users determines the extensions that an object uses.
type users struct{ view world.View }

// of returns the labels of an object, and whether its kind has any.
func (u users) of(ctx context.Context, object runtime.Object) (labels, bool, error) {
	l := labels{}
	var err error
	switch o := object.(type) {
	case *gardencorev1beta1.CloudProfile:
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, o.Spec.Type)
	case *gardencorev1beta1.NamespacedCloudProfile:
		err = u.namespacedProfile(ctx, l, o)
	case *gardencorev1beta1.SecretBinding:
		if o.Provider != nil {
			l.add(gardencorev1beta1.LabelPrefixProviderExtension, strings.Split(o.Provider.Type, ",")...)
		}
	case *gardensecurityv1alpha1.CredentialsBinding:
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, o.Provider.Type)
	case *gardensecurityv1alpha1.WorkloadIdentity:
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, o.Spec.TargetSystem.Type)
	case *gardencorev1beta1.BackupBucket:
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, o.Spec.Provider.Type)
	case *gardencorev1beta1.BackupEntry:
		err = u.backupEntry(ctx, l, o)
	case *gardencorev1beta1.Seed:
		err = u.seed(ctx, l, &o.Spec)
	case *gardencorev1beta1.Shoot:
		err = u.shoot(ctx, l, &o.Spec)
	default:
		return nil, false, nil
	}
	return l, true, err
}

func (u users) namespacedProfile(ctx context.Context, l labels, p *gardencorev1beta1.NamespacedCloudProfile) error {
	parent, err := u.view.CloudProfile(ctx, p.Spec.Parent.Name)
	if err == nil {
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, parent.Spec.Type)
	}
	return err
}

func (u users) backupEntry(ctx context.Context, l labels, e *gardencorev1beta1.BackupEntry) error {
	bucket, err := u.view.BackupBucket(ctx, e.Spec.BucketName)
	if err == nil {
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, bucket.Spec.Provider.Type)
	}
	return err
}

func (u users) seed(ctx context.Context, l labels, s *gardencorev1beta1.SeedSpec) error {
	l.add(gardencorev1beta1.LabelPrefixProviderExtension, s.Provider.Type)
	if s.Backup != nil {
		l.add(gardencorev1beta1.LabelPrefixProviderExtension, s.Backup.Provider)
	}
	if s.DNS.Provider != nil {
		l.add(gardencorev1beta1.LabelPrefixDNSRecordExtension, s.DNS.Provider.Type)
	}
	if s.DNS.Internal != nil {
		l.add(gardencorev1beta1.LabelPrefixDNSRecordExtension, s.DNS.Internal.Type)
	}
	for _, d := range s.DNS.Defaults {
		l.add(gardencorev1beta1.LabelPrefixDNSRecordExtension, d.Type)
	}
	registrations, err := u.view.ControllerRegistrations(ctx)
	l.add(gardencorev1beta1.LabelPrefixExtensionType, extensions.EnabledForSeed(s, registrations)...)
	return err
}

func (u users) shoot(ctx context.Context, l labels, s *gardencorev1beta1.ShootSpec) error {
	l.add(gardencorev1beta1.LabelPrefixProviderExtension, s.Provider.Type)
	if s.Networking != nil && s.Networking.Type != nil {
		l.add(gardencorev1beta1.LabelPrefixNetworkingExtension, *s.Networking.Type)
	}
	if s.DNS != nil {
		for i := range s.DNS.Providers {
			if p := &s.DNS.Providers[i]; query.Manages(p) {
				l.add(gardencorev1beta1.LabelPrefixDNSRecordExtension, *p.Type)
			}
		}
	}
	for i := range s.Provider.Workers {
		l.pool(&s.Provider.Workers[i])
	}
	registrations, err := u.view.ControllerRegistrations(ctx)
	l.add(gardencorev1beta1.LabelPrefixExtensionType, extensions.EnabledForShoot(s, registrations)...)
	return err
}

func (l labels) pool(w *gardencorev1beta1.Worker) {
	if w.Machine.Image != nil {
		l.add(gardencorev1beta1.LabelPrefixOperatingSystemConfigExtension, w.Machine.Image.Name)
	}
	if w.CRI != nil {
		for _, r := range w.CRI.ContainerRuntimes {
			l.add(gardencorev1beta1.LabelPrefixContainerRuntimeExtension, r.Type)
		}
	}
	if c := w.ControlPlane; c != nil && c.Exposure != nil && c.Exposure.Extension != nil && c.Exposure.Extension.Type != nil {
		l.add(prefixSelfHostedShootExposure, *c.Exposure.Extension.Type)
	}
}
