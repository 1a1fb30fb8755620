// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

// raiseMySQL moves the counter of Kine's revisions, and lets its compaction begin there.
func raiseMySQL(ctx context.Context, c kine.Config, above int64) (err error) {
	db, err := kine.OpenMySQL(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// A counter never goes back, whatever it is set to. The statement ends any transaction.
	if _, err := db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE kine AUTO_INCREMENT = %d", above+1)); err != nil {
		return fmt.Errorf("raise revisions: %w", err)
	}
	const compacted = `UPDATE kine SET prev_revision = ? WHERE name = 'compact_rev_key' AND prev_revision < ?`
	if _, err := db.ExecContext(ctx, compacted, above, above); err != nil {
		return fmt.Errorf("raise revisions: %w", err)
	}
	// The row is the newest from now on. A second one of the same key follows the first, as Kine writes it.
	const mark = `INSERT INTO kine (name, created, deleted, create_revision, prev_revision, lease, value)
		SELECT ?, CASE WHEN last.id IS NULL THEN 1 ELSE 0 END, 0, 0, COALESCE(last.id, 0), 0, ''
		FROM (SELECT MAX(id) AS id FROM kine WHERE name = ?) AS last`
	if _, err := db.ExecContext(ctx, mark, marker, marker); err != nil {
		return fmt.Errorf("raise revisions: %w", err)
	}

	return nil
}
