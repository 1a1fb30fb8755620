// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

var errNoCommand = errors.New("this is not a command that joins a seed")

// join does what somebody does who pastes the command of the web UI: it joins a cluster, which is the API of another garden, with a
// gardenlet in this process. It returns at once; the gardenlet runs until the test ends.
func (w *world) join(command string) error {
	found := regexp.MustCompile(`^terrarium gardenlet join (\S+) --token (\S+) .*--name (\S+)`).FindStringSubmatch(command)
	if len(found) == 0 {
		return errNoCommand
	}
	seed := harness.Start(w.t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- join.Run(ctx, join.Options{
			Server: w.Server, Token: found[2], SeedKubeconfig: seed.Kubeconfig, Name: found[3],
			Provider: "local", Region: "local", Pods: "10.1.0.0/16", Services: "10.2.0.0/16",
			Mode: join.ModeProcess, Timeout: 2 * time.Minute,
		}, join.Surroundings{
			Tell: func(line string) { w.log.add(line) }, Clock: clock.RealClock{}, UserAgent: "test", RunGardenlet: w.runGardenlet,
		}, seed.Kubeconfig)
	}()
	managed := make(chan struct{})
	go func() {
		defer close(managed)
		manageResources(ctx, seed.Client)
	}()
	w.t.Cleanup(func() {
		cancel()
		<-managed
		if err := <-done; err != nil {
			w.t.Errorf("join: %v\n%s", err, w.log)
		}
	})

	return nil
}

// manageResources stands in for the resource manager of a seed, which is a pod and cannot run there: it says of all ManagedResources that
// they are well, until the context ends.
func manageResources(ctx context.Context, c client.Client) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		all := &gardenresourcesv1alpha1.ManagedResourceList{}
		_ = c.List(ctx, all) // Their kind is new to the cluster, and the next time follows.
		for i := range all.Items {
			r := &all.Items[i]
			sum := manifests(ctx, c, r)
			if r.Status.ObservedGeneration == r.Generation && r.Status.SecretsDataChecksum != nil && *r.Status.SecretsDataChecksum == sum {
				continue
			}
			before := r.DeepCopy()
			r.Status.ObservedGeneration, r.Status.SecretsDataChecksum, r.Status.Conditions = r.Generation, &sum, nil
			for kind, is := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{
				gardenresourcesv1alpha1.ConditionTypeResourcesApplied:     gardencorev1beta1.ConditionTrue,
				gardenresourcesv1alpha1.ConditionTypeResourcesHealthy:     gardencorev1beta1.ConditionTrue,
				gardenresourcesv1alpha1.ConditionTypeResourcesProgressing: gardencorev1beta1.ConditionFalse,
			} {
				r.Status.Conditions = append(r.Status.Conditions, gardencorev1beta1.Condition{
					Type: kind, Status: is, Reason: "Hollow", Message: "There is nothing to do.", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
				})
			}
			_ = c.Status().Patch(ctx, r, client.MergeFrom(before)) // As above.
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// manifests returns the checksum of the manifests of a ManagedResource, by which others see that the latest ones are meant.
func manifests(ctx context.Context, c client.Client, r *gardenresourcesv1alpha1.ManagedResource) string {
	var all []*corev1.Secret
	for _, ref := range r.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: ref.Name}, secret); err == nil {
			all = append(all, secret)
		}
	}

	return managedresource.Decode(all...).Checksum
}

// runGardenlet is the gardenlet of the process that joins.
func (w *world) runGardenlet(ctx context.Context, data []byte) error {
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	if err != nil {
		return err
	}
	config.Server.HealthProbes.Port, config.Server.Metrics.Port = 0, 0
	completed, err := gardenlet.Options{Config: config, Version: "v0.0.0-test", APILevel: build.GardenerAPILevel}.Complete()
	if err != nil {
		return err
	}

	return completed.Run(ctx)
}
