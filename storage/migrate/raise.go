// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // Registers itself.
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

// ErrCannotRaise says that a datastore cannot go on above the revision of the source.
var ErrCannotRaise = errors.New("it cannot go on above the resource versions of the source")

const (
	// raisable is how far an etcd is raised, which takes a write for each revision.
	raisable = 2_000_000
	// raisers is how many of these writes are made at the same time.
	raisers = 128
)

func isPostgres(endpoint string) bool {
	return strings.HasPrefix(endpoint, "postgres://") || strings.HasPrefix(endpoint, "postgresql://")
}

func isEtcd(endpoint string) bool { return strings.HasPrefix(endpoint, "http") }

// canRaise refuses what has no means to go on above a revision.
func canRaise(c kine.Config) error {
	if isPostgres(c.Endpoint) || c.MySQL() || isEtcd(c.Endpoint) {
		return nil
	}

	return fmt.Errorf("%w; only SQLite, PostgreSQL, MySQL and etcd can be the target of a migration", ErrCannotRaise)
}

// raise makes an empty datastore go on above a revision, and writes the marker.
func (t *externalTarget) raise(ctx context.Context, above int64) error {
	if isEtcd(t.m.To.Endpoint) {
		return t.raiseEtcd(ctx, above)
	}
	// Kine must not run while its numbers change: it would fill what lies between with a row for each revision.
	if err := t.close(); err != nil {
		return err
	}
	raise := raisePostgres
	if t.m.To.MySQL() {
		raise = raiseMySQL
	}
	if err := raise(ctx, t.m.To.Config, above); err != nil {
		return err
	}
	e, err := connect(ctx, t.m.To.Config)
	if err != nil {
		return err
	}
	t.external = e

	return nil
}

// raisePostgres moves the sequence of Kine's revisions, and lets its compaction begin there.
func raisePostgres(ctx context.Context, c kine.Config, above int64) (err error) {
	source, err := postgresURL(c)
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", source)
	if err != nil {
		return errors.New("connect to PostgreSQL: the URL cannot be read")
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	for _, statement := range []string{
		`SELECT setval('kine_id_seq', GREATEST($1::bigint, (SELECT last_value FROM kine_id_seq)))`,
		`UPDATE kine SET prev_revision = $1::bigint WHERE name = 'compact_rev_key' AND prev_revision < $1::bigint`,
	} {
		if _, err := tx.ExecContext(ctx, statement, above); err != nil {
			return errors.Join(fmt.Errorf("raise revisions: %w", err), tx.Rollback())
		}
	}
	// The row is the newest from now on. A second one of the same key follows the first, as Kine writes it.
	const mark = `INSERT INTO kine (name, created, deleted, create_revision, prev_revision, lease, value)
		SELECT $1, CASE WHEN last.id IS NULL THEN 1 ELSE 0 END, 0, 0, COALESCE(last.id, 0), 0, ''
		FROM (SELECT MAX(id) AS id FROM kine WHERE name = $1) AS last`
	if _, err := tx.ExecContext(ctx, mark, marker); err != nil {
		return errors.Join(fmt.Errorf("raise revisions: %w", err), tx.Rollback())
	}

	return tx.Commit()
}

// postgresURL is the URL with which Kine connects: without a name the database is called kubernetes, and names are in lower case.
func postgresURL(c kine.Config) (string, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return "", errors.New("connect to PostgreSQL: the URL cannot be read; special characters in its parts need percent-encoding")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/kubernetes"
	}
	u.Path = strings.ToLower(u.Path)
	query := u.Query()
	for key, value := range map[string]string{"sslrootcert": c.TLS.CAFile, "sslcert": c.TLS.CertFile, "sslkey": c.TLS.KeyFile} {
		if value == "" {
			continue
		}
		if !query.Has(key) {
			query.Set(key, value)
		}
		if !query.Has("sslmode") {
			query.Set("sslmode", "verify-full")
		}
	}
	u.RawQuery = query.Encode()

	return u.String(), nil
}

// raiseEtcd writes until the revision is reached, and lets the etcd forget what was written.
func (t *externalTarget) raiseEtcd(ctx context.Context, above int64) error {
	first, err := t.client.Put(ctx, marker, "")
	if err != nil {
		return fmt.Errorf("write the mark of the migration: %w", err)
	}
	missing := above - first.Header.Revision
	if missing <= 0 {
		return nil
	}
	if missing > raisable {
		return fmt.Errorf("%w: the source is at %d and the etcd at %d, which is too far for single writes; make the data directory of the etcd "+
			"from a snapshot of itself with \"etcdutl snapshot restore --bump-revision %d --mark-compacted\", and run the migration again",
			ErrCannotRaise, above, first.Header.Revision, missing)
	}
	t.m.Progress(fmt.Sprintf("Raising the revision of the etcd by %d.", missing))
	group, grouped := errgroup.WithContext(ctx)
	for n := range int64(raisers) {
		count := missing / raisers
		if n < missing%raisers {
			count++
		}
		group.Go(func() error {
			for range count {
				if _, err := t.client.Put(grouped, marker, ""); err != nil {
					return fmt.Errorf("raise revision: %w", err)
				}
			}

			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	last, err := t.client.Get(ctx, marker)
	if err != nil {
		return fmt.Errorf("raise revision: %w", err)
	}
	if _, err := t.client.Compact(ctx, last.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		return fmt.Errorf("compact: %w", err)
	}

	return nil
}
