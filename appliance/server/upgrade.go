// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// upgrade brings a locked data directory to this version, before anything else reads it.
func (s *server) upgrade(ctx context.Context, dir string) error {
	is, err := s.program().Run(ctx, dir, func(ctx context.Context, from string) (string, error) {
		return s.saveBefore(ctx, dir, from)
	})
	s.use = is

	return err
}

// program is this program, as data directories and datastores see it.
func (o Options) program() upgrade.Program {
	return upgrade.Program{Version: o.Version, Migrations: o.Migrations}
}

// errElsewhere says that the objects are in another datastore.
var errElsewhere = errors.New("the objects are in another datastore, of which this server takes no snapshots: " +
	"save it in its own way, then allow the upgrade with upgrade.skipSnapshot in the configuration")

// saveBefore takes a snapshot of the garden in a data directory that another version has left. It returns no name if there is
// nothing to save, or if the operator wants none.
func (s *server) saveBefore(ctx context.Context, dir, from string) (name string, err error) {
	if s.Config.Upgrade.SkipSnapshot {
		s.Log.Info("Warning: the data directory is upgraded without a snapshot, as the configuration says. It cannot go back to the version before",
			"from", from, "to", s.Version)

		return "", nil
	}
	config := s.datastoreConfig(dir)
	if config.External() {
		return "", errElsewhere
	}
	stores, err := kine.Start(ctx, config)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stores.Close()) }()
	garden, err := gardenIn(ctx, stores.Objects.Log)
	if err != nil || garden == "" {
		return "", err
	}
	history, err := timeline.Open(s.timelineConfig(dir))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, history.Close()) }()
	keeper, err := s.snapshots().keeper(dir, from, saved{stores: stores, history: history, name: func() string { return garden }})
	if err != nil {
		return "", err
	}
	made, err := keeper.Take(ctx)
	if err != nil {
		return "", err
	}
	s.Log.Info("The garden was saved before its upgrade", "from", from, "to", s.Version, "snapshot", made.Name, "destination", keeper.Health().Destination)

	return made.Name, nil
}

// identityKey is the key of the object that has the unique name of the garden.
const identityKey = "/registry/configmaps/" + metav1.NamespaceSystem + "/" + gardencorev1beta1.ConfigMapClusterIdentity

// gardenIn reads the unique name of a garden from its database; empty if it was never complete.
func gardenIn(ctx context.Context, objects *log.Log) (string, error) {
	found, err := objects.List(ctx, log.Read{Range: log.Range{Key: identityKey}})
	if err != nil || len(found.Records) == 0 {
		return "", err
	}
	text, isProtobuf := bytes.CutPrefix(found.Records[0].Value, []byte("k8s\x00"))
	envelope, object := &runtime.Unknown{}, &corev1.ConfigMap{}
	if !isProtobuf {
		return "", fmt.Errorf("read identity of the garden: %q has an unknown form", identityKey)
	}
	if err := envelope.Unmarshal(text); err != nil {
		return "", fmt.Errorf("read identity of the garden: %w", err)
	}
	if err := object.Unmarshal(envelope.Raw); err != nil {
		return "", fmt.Errorf("read identity of the garden: %w", err)
	}

	return object.Data[gardencorev1beta1.ConfigMapClusterIdentity], nil
}
