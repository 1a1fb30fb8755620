// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// minCompactBatchSize is the smallest batch that Kine accepts.
const minCompactBatchSize = 100

// Config says where the garden's objects are stored and how Kine runs. Use NewConfig: Validate rejects the zero value.
type Config struct {
	// Dir is the directory of the two databases. It is created with mode 0700. It is not used with an Endpoint.
	Dir string
	// Endpoint is the URL of an external datastore; empty means SQLite in Dir.
	Endpoint string
	// TLS is used towards an external datastore.
	TLS TLS

	// MaxOpenConnections limits the number of connections to an external datastore.
	MaxOpenConnections int
	// NotifyInterval is the time between two progress notifications of a watch.
	NotifyInterval time.Duration
	// EmulatedETCDVersion is the version of etcd that clients see; the API server enables features by it.
	EmulatedETCDVersion string
	// CompactInterval is the time between two compactions of an external datastore. The following values are for external datastores
	// too.
	CompactInterval time.Duration
	// CompactTimeout is the timeout of one batch of a compaction.
	CompactTimeout time.Duration
	// CompactMinRetain is the number of revisions that are never compacted.
	CompactMinRetain int64
	// CompactBatchSize is the number of revisions compacted in one transaction.
	CompactBatchSize int64
	// PollBatchSize is the number of revisions that are read at once for watches.
	PollBatchSize int64

	// HistoryBytes is how many bytes of the newest changes each database keeps in memory.
	HistoryBytes int64
	// Log is the logger for messages about the databases.
	Log logr.Logger
	// Tune lets tests change the options of the logs in Dir. It is nil in a garden.
	Tune func(*log.Config)
}

// TLS names the files used towards an external datastore.
type TLS struct {
	// CAFile verifies the datastore.
	CAFile string
	// CertFile and KeyFile authenticate this client to the datastore.
	CertFile, KeyFile string
}

func (t TLS) validate() []error {
	if (t.CertFile == "") != (t.KeyFile == "") {
		return []error{errors.New("certificates of the datastore: a certificate and its key are needed together")}
	}

	return nil
}

// NewConfig returns the configuration of a garden with databases in dir.
func NewConfig(dir string) Config {
	return Config{
		Dir:                 dir,
		MaxOpenConnections:  16,
		NotifyInterval:      5 * time.Second,
		EmulatedETCDVersion: "3.6.11",
		CompactInterval:     5 * time.Minute,
		CompactTimeout:      5 * time.Second,
		CompactMinRetain:    1000,
		CompactBatchSize:    1000,
		PollBatchSize:       500,
		HistoryBytes:        8 << 20,
		Log:                 logr.Discard(),
	}
}

// External reports whether the objects are stored in a datastore outside of this process.
func (c Config) External() bool { return c.Endpoint != "" }

// etcd reports whether the external datastore is an etcd, which needs no Kine.
func (c Config) etcd() bool { return strings.HasPrefix(c.Endpoint, "http") }

// Validate returns an error for every value that Kine would reject, or would accept and then fail with.
func (c Config) Validate() error {
	errs := c.validatePlace()
	if c.MaxOpenConnections < 2 {
		errs = append(errs, fmt.Errorf("max open connections: %d is below 2", c.MaxOpenConnections))
	}
	if c.EmulatedETCDVersion == "" {
		errs = append(errs, errors.New("emulated etcd version: must be set"))
	}
	for name, d := range map[string]time.Duration{
		"notify interval":  c.NotifyInterval,
		"compact interval": c.CompactInterval, "compact timeout": c.CompactTimeout,
	} {
		if d <= 0 {
			errs = append(errs, fmt.Errorf("%s: %s is not positive", name, d))
		}
	}
	if c.CompactMinRetain < 0 {
		errs = append(errs, fmt.Errorf("compact min retain: %d is negative", c.CompactMinRetain))
	}
	if c.CompactBatchSize < minCompactBatchSize {
		errs = append(errs, fmt.Errorf("compact batch size: %d is below %d", c.CompactBatchSize, minCompactBatchSize))
	}
	if c.HistoryBytes < 1 {
		errs = append(errs, fmt.Errorf("history bytes: %d is below 1", c.HistoryBytes))
	}
	if c.PollBatchSize < 1 {
		errs = append(errs, fmt.Errorf("poll batch size: %d is below 1", c.PollBatchSize))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })

	return errors.Join(errs...)
}

func (c Config) validatePlace() []error {
	if c.External() {
		return append(c.validateEndpoint(), c.TLS.validate()...)
	}
	if c.TLS != (TLS{}) {
		return []error{errors.New("certificates of the datastore: there is no external datastore to use them for")}
	}

	switch {
	case !filepath.IsAbs(c.Dir):
		return []error{fmt.Errorf("directory %q: must be an absolute path", c.Dir)}
	case strings.ContainsAny(c.Dir, "?#%"):
		return []error{fmt.Errorf("directory %q: must not contain any of ? # %%", c.Dir)}
	default:
		return nil
	}
}

// validateEndpoint checks the scheme only. Its errors never contain the URL, which may contain a password.
func (c Config) validateEndpoint() []error {
	scheme, rest, found := strings.Cut(c.Endpoint, "://")
	known := []string{"postgres", "postgresql", "mysql", "http", "https"}
	if err := Refused(c.Endpoint); err != nil {
		return []error{fmt.Errorf("datastore endpoint: %w", err)}
	}
	if !found || !slices.Contains(known, scheme) {
		return []error{fmt.Errorf("datastore endpoint: must be a URL with one of the schemes %s", strings.Join(known, ", "))}
	}
	if rest == "" {
		return []error{fmt.Errorf("datastore endpoint: nothing follows %s://", scheme)}
	}

	return nil
}

// ErrNATS says why a garden is not kept in NATS.
var ErrNATS = errors.New("NATS is not served: a server reads from an index of its own there, which follows the writes of others, so what was acknowledged can be missing " +
	"when another server takes the lead; choose PostgreSQL, MySQL or etcd")

// Refused returns why there must be no garden in a datastore that could be connected. The error does not contain the URL.
func Refused(endpoint string) error {
	if strings.HasPrefix(endpoint, "nats://") {
		return ErrNATS
	}

	return nil
}
