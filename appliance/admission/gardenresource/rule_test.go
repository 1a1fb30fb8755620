// SPDX-License-Identifier: Apache-2.0

package gardenresource_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
)

type garden = gardenoperatorv1alpha1.Garden

func made(changes ...func(*garden)) *garden {
	g := &garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	g.Spec.VirtualCluster.Kubernetes.Version = "1.36.3"
	for _, change := range changes {
		change(g)
	}

	return g
}

func asks(operations string) func(*garden) {
	return func(g *garden) {
		metav1.SetMetaDataAnnotation(&g.ObjectMeta, gardencorev1beta1.AnnotationOperation, operations)
	}
}

func domain(g *garden) {
	g.Spec.VirtualCluster.DNS.Domains = []gardenoperatorv1alpha1.DNSDomain{{Name: "example.org"}}
}

func identity(g *garden) { g.Spec.VirtualCluster.Gardener.ClusterIdentity = "landscape" }

func version(g *garden) { g.Spec.VirtualCluster.Kubernetes.Version = "1.37.0" }

func available(g *garden) {
	g.Spec.VirtualCluster.ControlPlane = &gardenoperatorv1alpha1.ControlPlane{HighAvailability: &gardenoperatorv1alpha1.HighAvailability{}}
}

func events(g *garden) {
	g.Spec.VirtualCluster.Kubernetes.KubeAPIServer = &gardenoperatorv1alpha1.KubeAPIServerConfig{
		KubeAPIServerConfig: gardencorev1beta1.KubeAPIServerConfig{EventTTL: &metav1.Duration{Duration: 1}},
	}
}

var errLater = errors.New("not before tomorrow")

// kubeconfigs bounds kubeconfigs for shoots, unless the bound is 0.
func kubeconfigs(longest time.Duration) func(*garden) {
	return func(g *garden) {
		c := &gardenoperatorv1alpha1.GardenerAPIServerConfig{}
		if longest > 0 {
			c.ShootAdminKubeconfigMaxExpiration = &metav1.Duration{Duration: longest}
		}
		g.Spec.VirtualCluster.Gardener.APIServer = c
	}
}

func TestRule(t *testing.T) {
	t.Parallel()
	server := gardenresource.Server{
		Operation: func(_ context.Context, name string) error {
			if name == "reconcile" {
				return nil
			}

			return errLater
		},
		Setting:           func(string) string { return "" },
		LongestKubeconfig: func() time.Duration { return 24 * time.Hour },
	}
	shared := server
	shared.Setting = func(path string) string { return "other servers share " + path }
	for name, tc := range map[string]struct {
		reason   string
		server   gardenresource.Server
		do       admission.Operation
		now, was *garden
		who, sub string
		want     []string
	}{
		"create":        {"the server makes it", server, admission.Create, made(), nil, "", "", []string{"the server makes the Garden itself"}},
		"create itself": {"so the server may", server, admission.Create, made(), nil, user.APIServerUser, "", nil},
		"delete":        {"OPER-DEL-5: nobody deletes it", server, admission.Delete, nil, made(), "", "", []string{"describes this server"}},
		"delete all":    {"neither all at once", server, admission.Delete, nil, nil, "", "", []string{"describes this server"}},
		"same":          {"nothing is nothing", server, admission.Update, made(), made(), "", "", nil},
		"labels":        {"what is not in the spec is free", server, admission.Update, made(func(g *garden) { g.Labels = map[string]string{"a": "b"} }), made(), "", "", nil},
		"acts":          {"what acts may be set", server, admission.Update, made(domain), made(), "", "", nil},
		"shared":        {"unless this server cannot", shared, admission.Update, made(domain), made(), "", "", []string{"spec.virtualCluster.dns.domains: Forbidden: this cannot be changed here: other servers share virtualCluster.dns.domains"}},
		"refused":       {"others are refused with the reason", server, admission.Update, made(version, available), made(), "", "", []string{"spec.virtualCluster.kubernetes.version", "the server brings its own", "spec.virtualCluster.controlPlane.highAvailability", "start more servers"}},
		"taken away":    {"also when they are taken away", server, admission.Update, made(), made(available), "", "", []string{"spec.virtualCluster.controlPlane.highAvailability"}},
		"file":          {"what the file says is set there", server, admission.Update, made(events), made(), "", "", []string{"set eventTTL in /etc/terrarium/server.yaml"}},
		"shorter":       {"kubeconfigs may be bounded further", server, admission.Update, made(kubeconfigs(time.Hour)), made(kubeconfigs(0)), "", "", nil},
		"longer":        {"but not less than the file says", server, admission.Update, made(kubeconfigs(25 * time.Hour)), made(kubeconfigs(time.Hour)), "", "", []string{"shootAdminKubeconfigMaxExpiration", "set shoots.maxKubeconfigLifetime in /etc/terrarium/server.yaml"}},
		"taken off":     {"and no longer be bounded", server, admission.Update, made(kubeconfigs(0)), made(kubeconfigs(time.Hour)), "", "", nil},
		"all taken off": {"nor be set at all", server, admission.Update, made(identity), made(identity, kubeconfigs(time.Hour)), "", "", nil},
		"too long":      {"a bound that does not count any more is in nobody's way", server, admission.Update, made(domain, kubeconfigs(25*time.Hour)), made(kubeconfigs(25 * time.Hour)), "", "", nil},
		"shared bound":  {"this server may not be able to bound them", shared, admission.Update, made(kubeconfigs(time.Hour)), made(kubeconfigs(0)), "", "", []string{"other servers share virtualCluster.gardener.gardenerAPIServer.shootAdminKubeconfigMaxExpiration"}},
		"itself":        {"the server shows what it is", server, admission.Update, made(version), made(), user.APIServerUser, "", nil},
		"possible":      {"an operation is asked for", server, admission.Update, made(asks("reconcile")), made(), "", "", nil},
		"impossible":    {"OPER-WH-5: another is refused with the reason", server, admission.Update, made(asks("reconcile;rotate-ca-start")), made(), "", "", []string{"metadata.annotations[gardener.cloud/operation]: Forbidden: rotate-ca-start: not before tomorrow"}},
		"by status":     {"annotations can be written with the status as well", server, admission.Update, made(asks("rotate-ca-start")), made(), "", "status", []string{"not before tomorrow"}},
		"asked before":  {"what is under way is not asked again", server, admission.Update, made(asks("rotate-ca-start")), made(asks("rotate-ca-start")), "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, ok := gardenresource.New(tc.server)(nil).(admission.ValidationInterface)
			if !ok {
				t.Fatal("it does not validate")
			}
			kind := gardenoperatorv1alpha1.GroupVersion
			var a admission.Attributes
			switch {
			case tc.now == nil && tc.was == nil:
				a = admission.NewAttributesRecord(nil, nil, kind.WithKind("Garden"), "", "", kind.WithResource("gardens"), tc.sub, tc.do, nil, false, &user.DefaultInfo{Name: tc.who})
			case tc.now == nil:
				a = admission.NewAttributesRecord(nil, tc.was, kind.WithKind("Garden"), "", "garden", kind.WithResource("gardens"), tc.sub, tc.do, nil, false, &user.DefaultInfo{Name: tc.who})
			case tc.was == nil:
				a = admission.NewAttributesRecord(tc.now, nil, kind.WithKind("Garden"), "", "garden", kind.WithResource("gardens"), tc.sub, tc.do, nil, false, &user.DefaultInfo{Name: tc.who})
			default:
				a = admission.NewAttributesRecord(tc.now, tc.was, kind.WithKind("Garden"), "", "garden", kind.WithResource("gardens"), tc.sub, tc.do, nil, false, &user.DefaultInfo{Name: tc.who})
			}
			err := rule.Validate(t.Context(), a, nil)
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want %q", tc.reason, err, want)
				}
			}
		})
	}
}

// TestEachFieldHasARow finds a field of the spec about which nothing is said, and a row of no field.
func TestEachFieldHasARow(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, path := range leaves(reflect.TypeFor[gardenoperatorv1alpha1.GardenSpec](), "") {
		best := ""
		for _, row := range gardenresource.Rows() {
			if (path == row.Field || strings.HasPrefix(path, row.Field+".")) && len(row.Field) > len(best) {
				best = row.Field
			}
			if (row.Acts == "") == (row.Refused == "") {
				t.Errorf("%s either acts or is refused", row.Field)
			}
		}
		if best == "" {
			t.Errorf("spec.%s has no row", path)
		}
		used[best] = true
	}
	for _, row := range gardenresource.Rows() {
		if !used[row.Field] {
			t.Errorf("there is no field spec.%s", row.Field)
		}
	}
}

// leaves returns the paths of the fields of a type; what is in lists and maps belongs to their field.
func leaves(t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || !strings.Contains(t.PkgPath(), "/apis/") || strings.HasPrefix(t.PkgPath(), "k8s.io/") || t.NumField() == 0 {
		return []string{path}
	}
	var all []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		here := strings.TrimPrefix(path+"."+name, ".")
		if name == "" {
			here = path
		}
		all = append(all, leaves(f.Type, here)...)
	}

	return all
}

// TestRemedies looks for each field of the configuration file that a row names: a remedy that does not exist helps nobody.
func TestRemedies(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`^set (.+) in /etc/terrarium/server\.yaml`)
	for _, row := range gardenresource.Rows() {
		found := named.FindStringSubmatch(row.Refused)
		if found == nil {
			if strings.Contains(row.Refused, "set ") && strings.Contains(row.Refused, "server.yaml") {
				t.Errorf("spec.%s: %q names its field in another way than the others", row.Field, row.Refused)
			}

			continue
		}
		for field := range strings.SplitSeq(found[1], " and ") {
			if !configurable(reflect.TypeFor[gardenconfigv1alpha1.ServerConfiguration](), field) {
				t.Errorf("spec.%s: the configuration file has no field %q", row.Field, field)
			}
		}
		// What a field shows is one of the configuration file, if it is the same one that is set there.
		if strings.Contains(row.Shows, ".") && row.Shows != found[1] {
			t.Errorf("spec.%s: it shows %q, but %q is to be set", row.Field, row.Shows, found[1])
		}
	}
}

// configurable reports whether a type has a field with the path of names that files use.
func configurable(t reflect.Type, path string) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, rest, deeper := strings.Cut(path, ".")
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if is, _, _ := strings.Cut(f.Tag.Get("json"), ","); is == name {
			return !deeper || configurable(f.Type, rest)
		}
	}

	return false
}

// TestDocumented compares the table of the user's guide with the rows. UPDATE_GOLDEN=1 writes it.
func TestDocumented(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../../docs/garden.md", "<!-- fields -->\n", "<!-- end of fields -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	have, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	var want strings.Builder
	want.WriteString("\n| field | shows | a change |\n|---|---|---|\n")
	for _, row := range gardenresource.Rows() {
		shows, effect := row.Shows, "acts: "+row.Acts
		if shows == "" {
			shows = "–"
		}
		if row.Refused != "" {
			effect = "refused: " + row.Refused
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", row.Field, shows, effect)
	}
	want.WriteString("\n")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(before+begin+want.String()+end+after), 0o600); err != nil {
			t.Fatal(err)
		}

		return
	}
	if diff := cmp.Diff(want.String(), have); diff != "" {
		t.Errorf("%s does not have the table of the fields; write it with UPDATE_GOLDEN=1 (-want +got):\n%s", path, diff)
	}
}
