// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Kind is a kind of the extension contract with all properties in which the kinds differ.
type Kind struct {
	// Name is the name of the kind in registrations.
	Name string
	// New returns an empty object, NewList an empty list.
	New     func() gardenextensionsv1alpha1.Object
	NewList func() List
	// Patience says how long to wait for an object.
	Patience Patience
	// OfShoots says that the gardenlet creates objects of the kind for ordinary shoots.
	OfShoots bool
	// OnSeeds says that an object of the kind keeps its extension installed on the seed (GLET-CI-9).
	OnSeeds bool
	// Reports says that the conditions of objects in the namespace of a shoot are part of the shoot's health (GLET-CARE-15).
	Reports bool
}

// List is a list of objects of a kind.
type List interface {
	metav1.ListInterface
	runtime.Object
}

// Patience says how long to wait for an extension to reconcile an object.
type Patience struct {
	// Interval is the longest time between two checks. The first intervals are shorter, for extensions that are fast.
	Interval time.Duration
	// Severe is how long an error of the extension is tolerated before the wait fails.
	Severe time.Duration
	// Timeout is the longest time of the wait.
	Timeout time.Duration
}

// Kinds returns all kinds. The kinds that a shoot uses come first, in the order in which they are created.
func Kinds() []Kind {
	usual := Patience{Interval: 5 * time.Second, Severe: 30 * time.Second, Timeout: 3 * time.Minute}
	long := Patience{Interval: 5 * time.Second, Severe: 30 * time.Second, Timeout: 10 * time.Minute}
	return []Kind{
		{
			Name: kind.Infrastructure, New: object[gardenextensionsv1alpha1.Infrastructure], NewList: list[gardenextensionsv1alpha1.InfrastructureList],
			Patience: Patience{Interval: 10 * time.Second, Severe: 3 * time.Minute, Timeout: 10 * time.Minute},
			OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.ControlPlane, New: object[gardenextensionsv1alpha1.ControlPlane], NewList: list[gardenextensionsv1alpha1.ControlPlaneList],
			Patience: usual, OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.Network, New: object[gardenextensionsv1alpha1.Network], NewList: list[gardenextensionsv1alpha1.NetworkList],
			Patience: usual, OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.OperatingSystemConfig, New: object[gardenextensionsv1alpha1.OperatingSystemConfig], NewList: list[gardenextensionsv1alpha1.OperatingSystemConfigList],
			Patience: usual, OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.Worker, New: object[gardenextensionsv1alpha1.Worker], NewList: list[gardenextensionsv1alpha1.WorkerList],
			Patience: long, OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.ContainerRuntime, New: object[gardenextensionsv1alpha1.ContainerRuntime], NewList: list[gardenextensionsv1alpha1.ContainerRuntimeList],
			Patience: usual, OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.Extension, New: object[gardenextensionsv1alpha1.Extension], NewList: list[gardenextensionsv1alpha1.ExtensionList],
			Patience: usual, OfShoots: true, OnSeeds: true, Reports: true,
		},
		{
			Name: kind.DNSRecord, New: object[gardenextensionsv1alpha1.DNSRecord], NewList: list[gardenextensionsv1alpha1.DNSRecordList],
			Patience: Patience{Interval: 5 * time.Second, Severe: 15 * time.Second, Timeout: 2 * time.Minute},
			OfShoots: true, OnSeeds: true,
		},
		{
			Name: kind.BackupBucket, New: object[gardenextensionsv1alpha1.BackupBucket], NewList: list[gardenextensionsv1alpha1.BackupBucketList],
			Patience: usual, OnSeeds: true,
		},
		{
			Name: kind.BackupEntry, New: object[gardenextensionsv1alpha1.BackupEntry], NewList: list[gardenextensionsv1alpha1.BackupEntryList],
			Patience: long, OnSeeds: true,
		},
		{
			Name: kind.Bastion, New: object[gardenextensionsv1alpha1.Bastion], NewList: list[gardenextensionsv1alpha1.BastionList],
			Patience: usual, OnSeeds: true,
		},
		{
			Name: kind.SelfHostedShootExposure, New: object[gardenextensionsv1alpha1.SelfHostedShootExposure], NewList: list[gardenextensionsv1alpha1.SelfHostedShootExposureList],
			Patience: usual,
		},
	}
}

// KindsWhere returns the kinds for which about is true, in the order of Kinds.
func KindsWhere(about func(Kind) bool) []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return !about(k) })
}

// Names returns the names of all kinds in alphabetical order.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

// Named returns the kind with a name.
func Named(name string) (Kind, bool) {
	all := Kinds()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

// KindOf returns the kind of an object.
func KindOf(o gardenextensionsv1alpha1.Object) Kind {
	k, _ := Named(reflect.TypeOf(o).Elem().Name())
	return k
}

func object[T any, P interface {
	*T
	gardenextensionsv1alpha1.Object
}]() gardenextensionsv1alpha1.Object {
	return P(new(T))
}

func list[T any, P interface {
	*T
	List
}]() List {
	return P(new(T))
}
