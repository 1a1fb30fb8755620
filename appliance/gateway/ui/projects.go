// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

// maxProjects limits how many projects are read for one request.
const maxProjects = 500

// projectOf describes a project to the pages.
type projectOf struct {
	Name        string `json:"name"`
	Namespace   string `json:"namespace,omitempty"`
	Phase       string `json:"phase,omitempty"`
	Description string `json:"description,omitempty"`
	Purpose     string `json:"purpose,omitempty"`
}

// projects answers with the projects of a user who may not list them. The rules of a member name the project, and it is read with
// the user's own credential, so this shows nothing that the user could not read.
func (s *site) projects(api http.Handler, w http.ResponseWriter, r *http.Request) {
	found := s.guard(w, r)
	if found == nil {
		return
	}
	s.use(w, r, found, func(r *http.Request) {
		names, status, err := namedProjects(api, r, found.Credential())
		switch {
		case status == http.StatusUnauthorized:
			s.refuseCredential(w, found)

			return
		case err != nil || status != http.StatusCreated:
			unavailable.write(w)

			return
		}
		items := []projectOf{}
		for _, name := range names[:min(len(names), maxProjects)] {
			if project, ok := readProject(api, r, found.Credential(), name); ok {
				items = append(items, project)
			}
		}
		writeJSON(w, http.StatusOK, struct {
			Items []projectOf `json:"items"`
		}{items})
	})
}

// namedProjects returns the names of the projects in rules of the user, in their order.
func namedProjects(api http.Handler, r *http.Request, credential session.Credential) (names []string, status int, err error) {
	answer, status, err := review(api, r, credential, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", authorizationv1.SelfSubjectRulesReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectRulesReview"},
		Spec:     authorizationv1.SelfSubjectRulesReviewSpec{Namespace: gardencorev1beta1.NamespaceGarden},
	})
	for _, rule := range answer.Status.ResourceRules {
		if slices.Contains(rule.APIGroups, gardencorev1beta1.GroupName) && slices.Contains(rule.Resources, "projects") &&
			slices.Contains(rule.Verbs, "get") {
			names = append(names, rule.ResourceNames...)
		}
	}
	slices.Sort(names)

	return slices.Compact(names), status, err
}

func readProject(api http.Handler, r *http.Request, credential session.Credential, name string) (projectOf, bool) {
	target := &url.URL{Path: "/apis/" + gardencorev1beta1.GroupVersion.String() + "/projects/" + name}
	in := inside(r.Context(), r, credential, target)
	in.Header.Set("Accept", "application/json")
	in.Header.Del("Accept-Encoding")
	out := &reply{header: http.Header{}}
	api.ServeHTTP(out, in)
	var project gardencorev1beta1.Project
	if out.status != http.StatusOK || json.Unmarshal(out.body.Bytes(), &project) != nil {
		return projectOf{}, false
	}
	of := projectOf{Name: project.Name, Phase: string(project.Status.Phase)}
	for into, value := range map[*string]*string{
		&of.Namespace: project.Spec.Namespace, &of.Description: project.Spec.Description, &of.Purpose: project.Spec.Purpose,
	} {
		if value != nil {
			*into = *value
		}
	}

	return of, true
}
