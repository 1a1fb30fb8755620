// SPDX-License-Identifier: Apache-2.0

package extensionobjects_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const namespace = "shoot--dev--a"

// startSeed is an API server with what a gardenlet applies to its seed. It returns once the policy acts.
func startSeed(t *testing.T) *harness.Garden {
	t.Helper()
	garden := harness.Start(t)
	applySeed(t, garden)
	if err := garden.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	awaitPolicy(t, garden)
	return garden
}

func applySeed(t *testing.T, garden *harness.Garden) {
	t.Helper()
	if err := seed.ApplyDefinitions(t.Context(), deploy.Engine{Client: garden.Client, Owner: "gardenlet", Clock: clock.RealClock{}}); err != nil {
		t.Fatal(err)
	}
}

// awaitPolicy returns once the policy refuses what it is to refuse. Another error does not tell that it does.
func awaitPolicy(t *testing.T, garden *harness.Garden) {
	t.Helper()
	harness.Eventually(t, "the policy acts", func(ctx context.Context) error {
		probe := everywhere()
		probe.Finalizers = nil
		err := garden.Client.Create(ctx, probe)
		switch {
		case err == nil:
			return errors.Join(errNotYet, garden.Client.Delete(ctx, probe))
		case (apierrors.IsInvalid(err) || apierrors.IsForbidden(err)) && strings.Contains(err.Error(), "must have ranges in CIDR notation"):
			return nil
		default:
			return err
		}
	})
}

// everywhere is a bastion that the policy refuses.
func everywhere() *gardenextensionsv1alpha1.Bastion {
	b := bastion()
	b.Spec.Ingress[0].IPBlock.CIDR = "everywhere"
	return b
}

var errNotYet = errors.New("a bastion for everywhere was taken")

func meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, GenerateName: "a-", Finalizers: []string{"test.example.org/kept"}}
}

// wide is the metadata of what is in no namespace.
func wide() metav1.ObjectMeta {
	m := meta()
	m.Namespace = ""
	return m
}

func common() gardenextensionsv1alpha1.DefaultSpec {
	return gardenextensionsv1alpha1.DefaultSpec{Type: "local"}
}

func secret() corev1.SecretReference {
	return corev1.SecretReference{Namespace: namespace, Name: "cloudprovider"}
}

func backupBucket() *gardenextensionsv1alpha1.BackupBucket {
	return &gardenextensionsv1alpha1.BackupBucket{ObjectMeta: wide(), Spec: gardenextensionsv1alpha1.BackupBucketSpec{
		DefaultSpec: common(), Region: "garden", SecretRef: secret(),
	}}
}

func backupEntry() *gardenextensionsv1alpha1.BackupEntry {
	return &gardenextensionsv1alpha1.BackupEntry{ObjectMeta: wide(), Spec: gardenextensionsv1alpha1.BackupEntrySpec{
		DefaultSpec: common(), Region: "garden", SecretRef: secret(), BucketName: "bucket",
	}}
}

func bastion() *gardenextensionsv1alpha1.Bastion {
	return &gardenextensionsv1alpha1.Bastion{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.BastionSpec{
		DefaultSpec: common(), UserData: []byte("#!/bin/sh"),
		Ingress: []gardenextensionsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}}},
	}}
}

func containerRuntime() *gardenextensionsv1alpha1.ContainerRuntime {
	return &gardenextensionsv1alpha1.ContainerRuntime{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.ContainerRuntimeSpec{
		DefaultSpec: common(), BinaryPath: gardenextensionsv1alpha1.ContainerRuntimeBinaryPath,
		WorkerPool: gardenextensionsv1alpha1.ContainerRuntimeWorkerPool{Name: "pool"},
	}}
}

func controlPlane() *gardenextensionsv1alpha1.ControlPlane {
	return &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.ControlPlaneSpec{
		DefaultSpec: common(), Region: "garden", SecretRef: secret(),
	}}
}

func dnsRecord() *gardenextensionsv1alpha1.DNSRecord {
	return &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.DNSRecordSpec{
		DefaultSpec: common(), SecretRef: secret(), Name: "api.sprout.example.org", RecordType: gardenextensionsv1alpha1.DNSRecordTypeA, Values: []string{"10.0.0.1"},
	}}
}

func addOn() *gardenextensionsv1alpha1.Extension {
	return &gardenextensionsv1alpha1.Extension{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.ExtensionSpec{DefaultSpec: common()}}
}

func infrastructure() *gardenextensionsv1alpha1.Infrastructure {
	return &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.InfrastructureSpec{
		DefaultSpec: common(), Region: "garden", SecretRef: secret(),
	}}
}

func network() *gardenextensionsv1alpha1.Network {
	return &gardenextensionsv1alpha1.Network{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.NetworkSpec{
		DefaultSpec: common(), PodCIDR: "10.3.0.0/16", ServiceCIDR: "10.4.0.0/16",
	}}
}

func operatingSystemConfig() *gardenextensionsv1alpha1.OperatingSystemConfig {
	return &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.OperatingSystemConfigSpec{
		DefaultSpec: common(), Purpose: gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision,
	}}
}

func exposure() *gardenextensionsv1alpha1.SelfHostedShootExposure {
	return &gardenextensionsv1alpha1.SelfHostedShootExposure{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.SelfHostedShootExposureSpec{
		DefaultSpec: common(), Port: 443, Endpoints: []gardenextensionsv1alpha1.ControlPlaneEndpoint{},
	}}
}

func worker() *gardenextensionsv1alpha1.Worker {
	return &gardenextensionsv1alpha1.Worker{ObjectMeta: meta(), Spec: gardenextensionsv1alpha1.WorkerSpec{
		DefaultSpec: common(), Region: "garden", SecretRef: secret(),
		Pools: []gardenextensionsv1alpha1.WorkerPool{{
			Name: "pool", MachineType: "small", MachineImage: gardenextensionsv1alpha1.MachineImage{Name: "local", Version: "1.0.0"}, Minimum: 1, Maximum: 2,
			MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0),
			UserDataSecretRef: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "osc-result-a"}, Key: "cloud_config"},
		}},
	}}
}

// all are valid objects, one of each kind.
func all() []gardenextensionsv1alpha1.Object {
	return []gardenextensionsv1alpha1.Object{
		backupBucket(), backupEntry(), bastion(), containerRuntime(), controlPlane(), dnsRecord(), addOn(), infrastructure(), network(),
		operatingSystemConfig(), exposure(), worker(),
	}
}
