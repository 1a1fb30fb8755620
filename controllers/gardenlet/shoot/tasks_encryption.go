// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reencrypt"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// AnnotationEncryptionProgress on the API server of a shoot says up to where objects were written: how the API server writes, the
	// resource, and where its next page begins.
	AnnotationEncryptionProgress = "encryption.terrarium.garden/progress"

	taskEncrypted = "apiserver-encrypted"
	// checkPatience is how long an API server that was restarted may take to answer.
	checkPatience = 2 * time.Minute
	// rewriteTimeout is how long one run writes objects. The next one goes on where it ended.
	rewriteTimeout = time.Hour
)

// encryptionChange leads the API server to encrypt other resources. All of its instances learn to read both what is and what is not
// encrypted, before one of them writes in another way. Then all objects are written, the status reports the new resources, and the API
// server is deployed without what was only needed to read old objects. Nothing else uses the cluster until its restarts are over.
type encryptionChange struct {
	ground

	secrets authorities
	shoots  *kit.Shoots
	report  report
}

// beforeEncryption are the tasks before the API server is deployed.
func (r rotating) beforeEncryption() []flow.ID {
	switch {
	case r.encryption:
		return after("encryption-unmark")
	case r.oldEncryptionKey:
		return after("encryption-provider")
	default:
		return nil
	}
}

// checks are the tasks before the API server encrypts other resources.
func (r rotating) checks() []flow.ID {
	if r.encryption {
		return after(query.TaskEncryptionCheck)
	}

	return nil
}

// endEncryption deploys the API server without the rules that were only needed to read what is stored in another way by now.
func (p plane) endEncryption(components assembly.Assembly[facts.Shoot]) []flow.Task {
	if !p.rotating().encryption {
		return nil
	}
	server := apiserver.Component()
	server.Task, server.Title = taskEncrypted, "the API server without what nothing is encrypted with any more"
	components.Components = []component.Component[facts.Shoot]{server}
	components.Facts.Encryption.Known, components.Facts.Encryption.Written = true, true

	return components.Deploy(assembly.Order{After: after("encryption-report")})
}

func (e encryptionChange) fragment() fragment {
	now := e.rotating()
	if now.oldEncryptionKey {
		return fragment{deploy: []flow.Task{{
			ID: "encryption-provider", Title: "Reporting with which provider the new key is used", Do: e.reportProvider,
		}}}
	}
	if !now.encryption {
		return fragment{}
	}

	return fragment{deploy: []flow.Task{
		{ID: "encryption-unmark", Title: "Forgetting how far an earlier change of what is encrypted was", Skip: e.facts.Encryption.Known, Do: e.unmark},
		{
			ID: query.TaskEncryptionCheck, Title: "Looking whether the cluster serves what is to be encrypted", After: after("apiserver-wait", "gardener-access"),
			Retry: flow.Retry{Interval: time.Second, Timeout: checkPatience}, Do: e.check,
		},
		{
			ID: "encryption-rewrite", Title: "Writing all objects as they are to be encrypted", After: after(taskKeyInUse), Timeout: rewriteTimeout,
			Do: e.rewrite,
		},
		{ID: "encryption-report", Title: "Reporting what is encrypted by now", After: after("encryption-rewrite"), Do: e.reportResources},
		{ID: "encryption-end", Title: "Removing the marks of the change of what is encrypted", After: after(taskEncrypted + "-wait"), Do: e.unmark},
	}}
}

// unmark takes all marks from the API server.
func (e encryptionChange) unmark(ctx context.Context) error {
	return e.mark(ctx, "", gardencorev1beta1.AnnotationNewEncryptionKeyPopulated, gardencorev1beta1.AnnotationResourcesLabeled, AnnotationEncryptionProgress)
}

// check refuses resources that the cluster does not serve, before the API server encrypts them: what is misspelled would never be
// encrypted. Custom resources can be encrypted once they are defined. What is or may be written encrypted by now is not refused any more:
// its owner could take it back, and nobody could read its objects.
func (e encryptionChange) check(ctx context.Context) error {
	used, err := e.encryptionInUse(ctx)
	if err != nil {
		return err
	}
	begun := append(query.PlainEncryption(*e.facts.Shoot.Status.Credentials.EncryptionAtRest).Resources, used.Encrypted...)
	first := slices.DeleteFunc(query.EncryptionWanted(&e.facts.Shoot.Spec), func(r string) bool { return slices.Contains(begun, r) })
	if len(first) == 0 {
		return nil
	}
	shoot, err := e.shoots.Fresh(ctx, e.facts.Namespace)
	if err != nil {
		return err
	}
	for _, resource := range first {
		kind, err := reencrypt.Served(shoot, resource)
		if err != nil {
			return err
		}
		if kind.Empty() {
			err := fmt.Errorf("resource %q in spec.kubernetes.kubeAPIServer.encryptionConfig is not served by the cluster: "+
				"take it out again, or define it and retry; a resource that is not of the core group is named with its group, such as deployments.apps", resource)

			return flow.Final(lastoperation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem))
		}
	}

	return nil
}

// rewrite writes all objects of the resources that are encrypted or were. The patch changes nothing, so the API server writes only what
// it would store in another way. An interrupted run is continued with the page that it was interrupted in.
func (e encryptionChange) rewrite(ctx context.Context) error {
	used, err := e.encryptionInUse(ctx)
	if err != nil {
		return err
	}
	if done, err := e.marked(ctx, used.Writing(), gardencorev1beta1.AnnotationResourcesLabeled); done || err != nil {
		return err
	}
	shoot, err := e.shoots.Fresh(ctx, e.facts.Namespace)
	if err != nil {
		return err
	}
	reached, err := e.markOf(ctx, AnnotationEncryptionProgress)
	if err != nil {
		return err
	}
	w, stop := reencrypt.Writer{
		Shoot: shoot, Patch: reencrypt.Nothing(), Whole: e.decrypted(used),
		Page: func(ctx context.Context, resource, next string) error {
			return e.mark(ctx, strings.Join([]string{used.Writing(), resource, next}, " "), AnnotationEncryptionProgress)
		},
	}.Limited()
	defer stop()
	for _, resource := range used.Resources() {
		next := ""
		if at, page, ok := e.progress(reached, used.Writing()); ok {
			if resource < at {
				continue
			}
			if resource == at {
				next = page
			}
		}
		if err := w.Write(ctx, resource, next); err != nil {
			return err
		}
	}

	return e.mark(ctx, used.Writing(), gardencorev1beta1.AnnotationResourcesLabeled)
}

// progress reads up to where objects were written, if they were written so.
func (encryptionChange) progress(reached, writing string) (resource, page string, ok bool) {
	parts := strings.Split(reached, " ")
	if len(parts) != 3 || parts[0] != writing {
		return "", "", false
	}

	return parts[1], parts[2], true
}

// decrypted are the resources that the status reports as encrypted and that the API server writes without encryption by now. One that
// could not be written could not be read later.
func (e encryptionChange) decrypted(used apiserver.Encryption) []string {
	reported := query.PlainEncryption(*e.facts.Shoot.Status.Credentials.EncryptionAtRest).Resources

	return slices.DeleteFunc(reported, func(r string) bool { return slices.Contains(used.Encrypted, r) })
}

// reportResources reports which resources are encrypted, now that all of their objects are.
func (e encryptionChange) reportResources(ctx context.Context) error {
	wanted := query.EncryptionWanted(&e.facts.Shoot.Spec)

	return e.reportEncryption(ctx, func(is *gardencorev1beta1.EncryptionAtRest) { is.Resources = wanted })
}

// reportProvider reports with which provider the new key is used, now that all objects are encrypted with it (GLET-CRED-4).
func (e encryptionChange) reportProvider(ctx context.Context) error {
	key, err := e.secrets.EncryptionKey(ctx, gardencorev1beta1.SecretETCDEncryptionKey)
	if err != nil {
		return err
	}
	used, err := e.encryptionInUse(ctx)
	if err != nil {
		return err
	}
	kind := used.ProviderOf(key.Name)
	if kind == "" {
		return nil
	}

	return e.reportEncryption(ctx, func(is *gardencorev1beta1.EncryptionAtRest) { is.Provider.Type = kind })
}

// reportEncryption changes what was reported. If nothing was yet, the whole is reported later.
func (e encryptionChange) reportEncryption(ctx context.Context, change func(*gardencorev1beta1.EncryptionAtRest)) error {
	return e.report(ctx, func(s *gardencorev1beta1.ShootStatus) {
		if s.Credentials != nil && s.Credentials.EncryptionAtRest != nil {
			change(s.Credentials.EncryptionAtRest)
		}
	})
}
