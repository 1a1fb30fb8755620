// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// recheckLeaving is the time after which an installation that is being deleted but wanted again is checked again.
	recheckLeaving = 5 * time.Second
	// reasonIncomplete says that something that a cluster needs is missing. A new registration or deployment starts another
	// pass.
	reasonIncomplete = "ExtensionMissing"
)

// pass installs in one cluster what is needed there, and removes the rest.
type pass struct {
	*kit.Base

	place Place
	// shoots are those of a seed.
	shoots []gardencorev1beta1.Shoot
	plan   Plan
}

func (p *pass) run(ctx context.Context) (reconcile.Result, error) {
	outcome, err := kit.Run(ctx, p, decide, install, uninstall, waitForLeaving)
	if kit.IsFailure(err) {
		p.warn(gardencorev1beta1.EventReconcileError, err.Error())
	}
	return kit.Result(outcome, err)
}

func (p *pass) warn(reason, message string) {
	kit.Record(p.Recorder, p.place.cluster().object, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: reason, Action: gardencorev1beta1.EventActionReconcile, Message: message,
	})
}

func decide(ctx context.Context, p *pass) (kit.Outcome, error) {
	in, err := p.read(ctx)
	if err != nil {
		return kit.Stop(), err
	}
	if p.plan, err = Decide(in); err != nil {
		name := client.ObjectKeyFromObject(p.place.cluster().object).String()
		return kit.Stop(), kit.UserMustFix(reasonIncomplete, fmt.Errorf("plan extensions of %s %q: %w", p.place.cluster().kind, strings.TrimPrefix(name, "/"), err))
	}
	if len(p.plan.NoBackups) > 0 {
		p.warn(reasonIncomplete, fmt.Sprintf("The %s has no backups: no %s offers %s", p.place.cluster().kind, p.place.cluster().offerer, strings.Join(p.plan.NoBackups, ", ")))
	}
	return kit.Continue(), nil
}

// read reads the installations around the cache, because their names are generated: one that is not in the cache yet would be created a second
// time. No two passes for one cluster run at once, because the queue hands it out once.
func (p *pass) read(ctx context.Context) (Input, error) {
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	deployments := &gardencorev1beta1.ControllerDeploymentList{}
	buckets, entries := &gardencorev1beta1.BackupBucketList{}, &gardencorev1beta1.BackupEntryList{}
	for _, list := range []client.ObjectList{registrations, deployments, buckets, entries} {
		if err := p.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return Input{}, fmt.Errorf("list %T: %w", list, err)
		}
	}
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := p.Reader.List(ctx, installations, p.place.cluster().installations); err != nil {
		return Input{}, fmt.Errorf("list controller installations: %w", err)
	}
	domains, err := domains(ctx, p.Client)
	if err != nil {
		return Input{}, err
	}
	return Input{
		Place: p.place, Shoots: p.shoots, Registrations: registrations.Items, Deployments: deployments.Items,
		Buckets: buckets.Items, Entries: entries.Items, Domains: domains, Installations: installations.Items,
	}, nil
}

func install(ctx context.Context, p *pass) (kit.Outcome, error) {
	for _, target := range p.plan.Install {
		if err := p.apply(ctx, target); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

func (p *pass) apply(ctx context.Context, target Target) error {
	if target.Existing == nil {
		installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{GenerateName: target.Registration.Name + "-"}}
		if err := Fill(installation, target, p.place); err != nil {
			return err
		}
		if err := p.Client.Create(ctx, installation); err != nil {
			return fmt.Errorf("create controller installation of %q: %w", target.Registration.Name, err)
		}
		return nil
	}
	installation := target.Existing.DeepCopy()
	commit := kit.Begin(p.Client, installation)
	if err := Fill(installation, target, p.place); err != nil {
		return err
	}
	return commit.WriteObject(ctx)
}

// uninstall deletes the installations that nobody needs (GCM-CR-9).
func uninstall(ctx context.Context, p *pass) (kit.Outcome, error) {
	for i := range p.plan.Delete {
		if err := kit.Remove(ctx, p.Client, &p.plan.Delete[i]); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

// waitForLeaving waits for old installations of wanted registrations to be deleted (GCM-CR-8).
func waitForLeaving(_ context.Context, p *pass) (kit.Outcome, error) {
	if len(p.plan.Leaving) == 0 {
		return kit.Continue(), nil
	}
	return kit.Stop(), kit.Wait(recheckLeaving, "old installations are still being deleted: "+strings.Join(p.plan.Leaving, ", "))
}

// domains reads the domains from the metadata of Secrets in namespace garden.
func domains(ctx context.Context, reader client.Reader) ([]extensions.Domain, error) {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := reader.List(ctx, secrets, client.InNamespace(gardencorev1beta1.NamespaceGarden)); err != nil {
		return nil, fmt.Errorf("list domain secrets: %w", err)
	}
	var found []extensions.Domain
	for i := range secrets.Items {
		if secret := &secrets.Items[i]; ofDomain(secret) {
			found = append(found, extensions.Domain{
				Name:     secret.Annotations[gardencorev1beta1.AnnotationDNSDomain],
				Provider: secret.Annotations[gardencorev1beta1.AnnotationDNSProvider],
				Internal: secret.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleInternalDomain,
			})
		}
	}
	return found, nil
}

// ofDomain reports whether a Secret is in namespace garden and describes a domain.
func ofDomain(secret client.Object) bool {
	role := secret.GetLabels()[gardencorev1beta1.LabelRole]
	return secret.GetNamespace() == gardencorev1beta1.NamespaceGarden &&
		(role == gardencorev1beta1.RoleDefaultDomain || role == gardencorev1beta1.RoleInternalDomain)
}
