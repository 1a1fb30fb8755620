// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/registry/rewrite"
)

// encryption encrypts objects with keys that can change while the server runs.
type encryption struct {
	file string
	// fixed is set if the keys cannot change: they are not in the file.
	fixed  bool
	stores *rewrite.Stores

	// mu makes sure that the last content of the file counts.
	mu      sync.Mutex
	id      string
	current *encryptionconfig.DynamicTransformers
}

func newEncryption(of *identity.Garden) *encryption {
	resources := make([]schema.GroupResource, 0, len(identity.EncryptedResources()))
	for _, name := range identity.EncryptedResources() {
		resources = append(resources, schema.ParseGroupResource(name))
	}

	return &encryption{file: of.Encryption.File, fixed: of.Encryption.Fixed() != nil, stores: rewrite.NewStores(resources...)}
}

// applyEncryption makes the stores encrypt with the keys in the file, which ReloadEncryption reads again. If it does nothing, the
// library reads the file once.
func (c *completed) applyEncryption(config *genericapiserver.Config) error {
	e := c.encryption
	if e.fixed {
		return nil
	}
	e.id = config.APIServerID
	is, err := e.load(wait.ContextForChannel(config.DrainedNotify()))
	if err != nil {
		return err
	}
	// Keys in the file have no connections to be checked or closed.
	e.current = encryptionconfig.NewDynamicTransformers(is.Transformers, is.HealthChecks[0], func() {}, is.KMSCloseGracePeriod)
	config.ResourceTransformers = e.current

	return nil
}

func (e *encryption) load(ctx context.Context) (*encryptionconfig.EncryptionConfiguration, error) {
	is, err := encryptionconfig.LoadEncryptionConfig(ctx, e.file, true, e.id)
	if err != nil {
		return nil, fmt.Errorf("read encryption configuration: %w", err)
	}

	return is, nil
}

// ReloadEncryption reads the keys with which objects are stored again. Requests that have begun may still use the former ones.
func (s *Server) ReloadEncryption(ctx context.Context) error {
	e := s.encryption
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == nil {
		return fmt.Errorf("read encryption configuration: %w", identity.ErrEncryptionFixed)
	}
	is, err := e.load(ctx)
	if err != nil {
		return err
	}
	e.current.Set(is.Transformers, func() {}, is.HealthChecks[0], is.KMSCloseGracePeriod)

	return nil
}

// Reencrypt writes all objects anew that are not encrypted with the first key.
func (s *Server) Reencrypt(ctx context.Context, report func(rewrite.Progress)) error {
	if err := s.encryption.stores.Rewrite(ctx, report); err != nil {
		return fmt.Errorf("encrypt with the new key: %w", err)
	}

	return nil
}
