// SPDX-License-Identifier: Apache-2.0

package projectlimit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// apart is the note of a project whose service accounts do not count together with those of other projects.
const apart = query.ProjectCreatedApart

// account is for whom a project counts: for a user, or for all service accounts of the projects that a user has created. Who has a project
// makes as many accounts as he likes, which create projects with accounts of their own.
type account struct {
	person string
	robots bool
}

// String implements fmt.Stringer.
func (a account) String() string {
	if a.robots {
		return fmt.Sprintf("the service accounts in projects of %q", a.person)
	}

	return fmt.Sprintf("%q", a.person)
}

// accountOf returns for whom a project counts.
func accountOf(p *gardencorev1beta1.Project) account {
	if person := p.Annotations[gardencorev1beta1.AnnotationProjectCreatedFor]; person != "" && person != apart {
		return account{person: person, robots: true}
	}

	return account{person: query.ProjectCreator(p)}
}

// createdFor returns the note of a project that somebody creates.
func (r *rule) createdFor(ctx context.Context, who user.Info, p *gardencorev1beta1.Project) (string, error) {
	exempt, err := r.exempt(ctx, who, p)
	switch {
	case err != nil:
		return "", err
	case exempt:
		return apart, nil
	default:
		return r.behind(ctx, who)
	}
}

// behind returns the user for whom a service account of a project acts, which is the one who has created the project, or for whom it was
// created; if that is nobody, it is the group of the accounts of the project. It is empty for people, and for accounts that operators have
// made: those in other namespaces, and in the namespace garden.
func (r *rule) behind(ctx context.Context, who user.Info) (string, error) {
	namespace, _, err := serviceaccount.SplitUsername(who.GetName())
	if err != nil || namespace == gardencorev1beta1.NamespaceGarden {
		return "", nil //nolint:nilerr // It is no service account.
	}
	of, err := r.world.Fresh().ProjectOf(ctx, namespace)
	if err != nil {
		return "", fmt.Errorf("find project of namespace %q: %w", namespace, err)
	}
	if of == nil {
		return "", r.stays(ctx, namespace)
	}
	person := of.Annotations[gardencorev1beta1.AnnotationProjectCreatedFor]
	if person == "" {
		person = query.ProjectCreator(of)
	}
	if person == "" || person == apart {
		person = serviceaccount.MakeNamespaceGroupName(namespace)
	}

	return person, nil
}

// stays refuses the service accounts of a namespace that goes: it was that of a project, whose creator nobody knows any more. Their tokens are
// valid for a while after it has gone.
func (r *rule) stays(ctx context.Context, namespace string) error {
	found, err := r.world.Fresh().Namespace(ctx, namespace)
	switch {
	case apierrors.IsNotFound(err) || err == nil && found.DeletionTimestamp != nil:
		return fmt.Errorf("namespace %q is being deleted: its service accounts create no projects", namespace)
	case err != nil:
		return fmt.Errorf("read namespace %q: %w", namespace, err)
	default:
		return nil
	}
}

// note writes for whom a project was created, or that it was created by the one who asks. Nobody else writes it.
func note(p *gardencorev1beta1.Project, person string) {
	if person == "" {
		delete(p.Annotations, gardencorev1beta1.AnnotationProjectCreatedFor)

		return
	}
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, gardencorev1beta1.AnnotationProjectCreatedFor, person)
}
