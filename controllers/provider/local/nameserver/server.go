// SPDX-License-Identifier: Apache-2.0

package nameserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// turn is the time until the next attempt if another record was written in between.
const turn = 200 * time.Millisecond

// Server is the name server of a cluster.
type Server struct {
	// Reader has to see what is in the cluster now, and not a copy from before.
	Reader client.Reader
	Writer client.Writer
	// Exists reports whether there is a DNSRecord still. Names of one that is gone are free; nil stands for all being there, because
	// DNSRecords of several seeds write into the cluster.
	Exists func(ctx context.Context, record client.ObjectKey) (bool, error)
}

// Publish has the server answer as a DNSRecord says, and no longer as the same DNSRecord said before. It returns the zone that the name is in,
// which is empty if the cluster has no name server. A name that another DNSRecord has is refused, and so is one below a wildcard of another
// shoot.
func (s Server) Publish(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord) (string, error) {
	config, err := s.config(ctx)
	if config == nil || err != nil {
		return "", err
	}
	record, err := Of(&object.Spec)
	if err != nil {
		return "", engine.ConfigurationProblem(err)
	}
	zone, err := zoneFor(object, record.Name, zonesOf(config.Annotations))
	if err != nil {
		return "", engine.ConfigurationProblem(err)
	}
	before := len(config.Data)
	if err := s.free(ctx, config, object, record.Name); err != nil {
		return "", err
	}
	text, err := record.text()
	if err != nil {
		return "", err
	}
	mine := key(client.ObjectKeyFromObject(object))
	if len(config.Data) == before && config.Data[mine] == text {
		return zone, nil
	}
	if config.Data == nil {
		config.Data = map[string]string{}
	}
	config.Data[mine] = text
	return zone, s.update(ctx, config)
}

// Withdraw has the server answer no longer as a DNSRecord said. It reports whether the cluster has a name server.
func (s Server) Withdraw(ctx context.Context, object *gardenextensionsv1alpha1.DNSRecord) (bool, error) {
	config, err := s.config(ctx)
	if config == nil || err != nil {
		return false, err
	}
	mine := key(client.ObjectKeyFromObject(object))
	if _, found := config.Data[mine]; !found {
		return true, nil
	}
	delete(config.Data, mine)
	return true, s.update(ctx, config)
}

// config is nil if the cluster has no name server.
func (s Server) config(ctx context.Context) (*corev1.ConfigMap, error) {
	config := &corev1.ConfigMap{}
	err := s.Reader.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name}, config)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("get the records of the name server: %w", err)
	}
	return config, nil
}

// update writes all records, unless somebody else has done so since they were read.
func (s Server) update(ctx context.Context, config *corev1.ConfigMap) error {
	err := s.Writer.Update(ctx, config)
	if apierrors.IsConflict(err) {
		return kit.Wait(turn, "Waiting for another record")
	}
	if err != nil {
		return fmt.Errorf("write the records of the name server: %w", err)
	}
	return nil
}

// free makes sure that nobody else has the name. It takes away what was left behind by DNSRecords that are gone.
func (s Server) free(ctx context.Context, config *corev1.ConfigMap, object *gardenextensionsv1alpha1.DNSRecord, name string) error {
	for other, text := range config.Data {
		holder := keyOf(other)
		r, err := parse(text)
		if holder == client.ObjectKeyFromObject(object) || err != nil || !overlap(r.Name, name) || (holder.Namespace == object.Namespace && r.Name != name) {
			continue
		}
		if s.Exists != nil {
			exists, err := s.Exists(ctx, holder)
			if err != nil {
				return err
			}
			if !exists {
				delete(config.Data, other)
				continue
			}
		}
		return engine.ConfigurationProblem(fmt.Errorf("record %q: another record has the name %q", name, r.Name))
	}
	return nil
}

// zoneFor is the zone of a record: the one that it names, the one that it is in already, or the longest one that its name is in (EXT-DNS-4).
func zoneFor(object *gardenextensionsv1alpha1.DNSRecord, name string, served []string) (string, error) {
	given, found := canonical(ptr.Deref(object.Spec.Zone, "")), canonical(ptr.Deref(object.Status.Zone, ""))
	longest := ""
	for _, zone := range served {
		if below(name, zone) && len(zone) > len(longest) {
			longest = zone
		}
	}
	switch {
	case longest == "":
		return "", fmt.Errorf("record %q: the name server has no zone for the name, only %s", name, strings.Join(served, ", "))
	case given != "" && !below(name, given):
		return "", fmt.Errorf("record %q: the name is not in the zone %q", name, given)
	case given != "" && !hosted(given, served):
		return "", fmt.Errorf("record %q: the name server has no zone %q, only %s", name, given, strings.Join(served, ", "))
	case given != "":
		return given, nil
	case below(name, found) && hosted(found, served):
		return found, nil
	default:
		return longest, nil
	}
}

// hosted reports whether a zone is served, or is part of one that is.
func hosted(zone string, served []string) bool {
	return slices.ContainsFunc(served, func(whole string) bool { return zone == whole || below(zone, whole) })
}

// key is where the record of a DNSRecord is kept. Names of namespaces have no dots.
func key(of client.ObjectKey) string {
	return of.Namespace + "." + of.Name
}

func keyOf(key string) client.ObjectKey {
	namespace, name, _ := strings.Cut(key, ".")
	return client.ObjectKey{Namespace: namespace, Name: name}
}
