// SPDX-License-Identifier: Apache-2.0

package gardenresource

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// Row says what becomes of a field of the spec of a Garden, and of those in it that have no row of their own.
type Row struct {
	// Field is the path below spec.
	Field string
	// Acts is what the server does when it is changed, empty if it is refused.
	Acts string
	// Refused is why it cannot be changed.
	Refused string
	// Shows is what of the server it shows, empty if it is never set.
	Shows string
}

// Reasons that several rows share.
const (
	noRuntime = "this server runs in no cluster, so there is nothing that it could set up there"
	noEtcd    = "this server has no etcd; its databases are in its data directory or where datastore in /etc/terrarium/server.yaml says"
	builtIn   = "it is part of this server and has no settings of its own"
	oneServer = "this server has one API for all its kinds and these settings are built in"
)

// kubeconfigField is below virtualCluster.gardener.
const kubeconfigField = "gardenerAPIServer.shootAdminKubeconfigMaxExpiration"

// file is the reason of a row whose value comes from the configuration file.
func file(field string) string {
	return "set " + field + " in /etc/terrarium/server.yaml and restart the server"
}

// Rows returns a row for each field. The longest path that fits counts.
func Rows() []Row {
	return slices.Concat(outside(), ofGardener(), ofKubernetes())
}

func outside() []Row {
	return []Row{
		{Field: "dns", Refused: "this server makes no DNS records; make those of its domains by hand"},
		{Field: "extensions", Refused: "extensions run on seeds only, by ControllerRegistrations"},
		{Field: "resources", Refused: "nothing in the spec could refer to them, see spec.extensions"},
		{Field: "runtimeCluster", Refused: noRuntime},
		{Field: "virtualCluster.controlPlane", Refused: "start more servers on one datastore, see datastore in /etc/terrarium/server.yaml"},
		{Field: "virtualCluster.dns.domains", Acts: "the certificate of the port gets the names api.<domain> and gardener.<domain>"},
		{Field: "virtualCluster.etcd", Refused: noEtcd},
		{Field: "virtualCluster.etcd.main.backup", Refused: file("snapshots.s3")},
		{
			Field: "virtualCluster.maintenance.timeWindow", Shows: "22:00 to 23:00 UTC at first",
			Acts: "the weekly check of the databases waits for it",
		},
		{Field: "virtualCluster.networking", Refused: "Services of the garden have no addresses"},
	}
}

func ofGardener() []Row {
	const at = "virtualCluster.gardener."
	const level = "the log of the whole server gets this level until its next start, as with terrarium log-level; it has one level, so the three fields change together"

	return append([]Row{
		{Field: at + "clusterIdentity", Shows: "the identity of the garden", Refused: "shoots and clients know the garden by it"},
	}, append(ofAPIServer(at+"gardenerAPIServer"), []Row{
		{
			Field: at + kubeconfigField,
			Acts:  "kubeconfigs for shoots are issued for no longer; it can only be less than shoots.maxKubeconfigLifetime in /etc/terrarium/server.yaml, which counts without it",
		},
		{Field: at + "gardenerAdmissionController.logLevel", Shows: "the level of the log", Acts: level},
		{
			Field: at + "gardenerAdmissionController.resourceAdmissionConfiguration",
			Acts:  "objects have to keep to these limits as well as to those of admission.resourceSize in /etc/terrarium/server.yaml; the Garden itself does not, so that they can be taken back",
		},
		{Field: at + "gardenerControllerManager.defaultProjectQuotas", Refused: file("controllers.project.quotas")},
		{Field: at + "gardenerControllerManager.featureGates", Refused: "the controllers have no feature gates"},
		{Field: at + "gardenerControllerManager.logLevel", Shows: "the level of the log", Acts: level},
		{Field: at + "gardenerDashboard", Refused: "the web UI is part of this server; a dashboard beside it would have to be installed elsewhere"},
		{Field: at + "gardenerDiscoveryServer", Refused: "this server publishes the documents of its own issuer itself, and those of shoots are not served yet"},
		{Field: at + "gardenerResourceManager", Refused: builtIn},
		{Field: at + "gardenerScheduler.featureGates", Refused: "the scheduler has no feature gates"},
		{Field: at + "gardenerScheduler.logLevel", Shows: "the level of the log", Acts: level},
		{
			Field: at + "gardenerScheduler.strategy", Shows: "scheduler.candidateDeterminationStrategy",
			Refused: file("scheduler.candidateDeterminationStrategy"),
		},
	}...)...)
}

// ofAPIServer has the rows that both API servers share.
func ofAPIServer(at string) []Row {
	return []Row{
		{Field: at, Refused: oneServer},
		{Field: at + ".admissionPlugins", Refused: file("admission.enable and admission.disable")},
		{Field: at + ".auditConfig", Refused: file("audit.policyFile")},
		{Field: at + ".encryptionConfig", Shows: "the provider that encrypts Secrets", Refused: "it is in pki/encryption.yaml of the data directory"},
	}
}

func ofKubernetes() []Row {
	const at = "virtualCluster.kubernetes."

	return append([]Row{
		{Field: at + "version", Shows: "the version of the Kubernetes API", Refused: "the server brings its own; install another version of terrarium"},
	}, append(ofAPIServer(at+"kubeAPIServer"), []Row{
		{Field: at + "kubeAPIServer.eventTTL", Shows: "eventTTL", Refused: file("eventTTL")},
		{Field: at + "kubeAPIServer.oidcConfig", Refused: file("oidc")},
		{Field: at + "kubeAPIServer.structuredAuthentication", Refused: file("oidc")},
		{Field: at + "kubeControllerManager", Refused: builtIn},
		{
			Field: at + "kubeControllerManager.certificateSigningDuration", Shows: "certificates.clientLifetime",
			Refused: file("certificates.clientLifetime"),
		},
	}...)...)
}

// find returns the row of a path.
func find(path string) Row {
	best := Row{Refused: "this server does not act upon it"}
	for _, row := range Rows() {
		if (path == row.Field || strings.HasPrefix(path, row.Field+".")) && len(row.Field) > len(best.Field) {
			best = row
		}
	}

	return best
}

// changed returns the paths of the fields that differ, in order. Lists are compared as a whole.
func changed(now, was *gardenoperatorv1alpha1.GardenSpec) ([]string, error) {
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(now)
	if err != nil {
		return nil, fmt.Errorf("encode spec: %w", err)
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(was)
	if err != nil {
		return nil, fmt.Errorf("encode spec: %w", err)
	}

	return differences("", after, before), nil
}

func differences(path string, now, was any) []string {
	// What is no object is left out or another sort of value on both sides.
	after, _ := now.(map[string]any)
	before, _ := was.(map[string]any)
	switch {
	case reflect.DeepEqual(now, was):
		return nil
	case len(after)+len(before) == 0:
		return []string{path}
	}
	keys := slices.Collect(maps.Keys(after))
	keys = slices.AppendSeq(keys, maps.Keys(before))
	slices.SortFunc(keys, cmp.Compare[string])
	var paths []string
	for _, key := range slices.Compact(keys) {
		paths = append(paths, differences(strings.TrimPrefix(path+"."+key, "."), after[key], before[key])...)
	}

	return paths
}
