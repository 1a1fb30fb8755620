// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"fmt"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// Migration brings a data directory from one schema to the next.
type Migration struct {
	// To is the schema to which it leads, one more than that of the migration before.
	To int
	// Name says what it changes.
	Name string
	// Run changes the directory. It may find what it was killed in the middle of, at any point, and completes it then.
	Run func(ctx context.Context, dir string) error
}

// Migrations are all migrations of this version.
func Migrations() []Migration { return nil }

// Check returns an error if the program must not use a data directory. It changes nothing.
func (p Program) Check(dir string) error {
	is, used, err := identity.ReadUse(dir)
	if err != nil || !used {
		return err
	}
	_, err = p.judge(dir, is)

	return err
}

// Run upgrades a data directory if that is needed, and writes down that this program uses it. The directory must be locked. Before
// the first change it calls save, which saves the garden and returns the name of the snapshot, empty if there is none.
func (p Program) Run(ctx context.Context, dir string, save func(ctx context.Context, from string) (string, error)) (identity.Use, error) {
	is, used, err := identity.ReadUse(dir)
	if err != nil {
		return is, err
	}
	if !used {
		is = identity.Use{Schema: p.Schema(), Version: p.Version}

		return is, identity.WriteUse(dir, is)
	}
	needed, err := p.judge(dir, is)
	if err != nil {
		return is, err
	}
	if !needed {
		if is.Version == p.Version {
			return is, nil
		}
		is.Version = p.Version

		return is, identity.WriteUse(dir, is)
	}
	if err := p.begin(ctx, dir, &is, save); err != nil {
		return is, err
	}

	return is, p.migrate(ctx, dir, &is)
}

// begin saves the garden, unless that was done by a start which was interrupted, and writes down that the upgrade has begun.
func (p Program) begin(ctx context.Context, dir string, is *identity.Use, save func(context.Context, string) (string, error)) error {
	switch {
	case is.Begun == nil:
		name, err := save(ctx, is.Version)
		if err != nil {
			return fmt.Errorf("save the garden before its upgrade from terrarium %s to %s: %w; nothing was changed", shown(is.Version), p.Version, err)
		}
		is.Begun = &identity.Upgrade{From: is.Version, To: p.Version, Snapshot: name}
	case is.Begun.To != p.Version:
		is.Begun.To = p.Version
	default:
		return nil
	}

	return identity.WriteUse(dir, *is)
}

// migrate makes the migrations that are left, and completes the upgrade.
func (p Program) migrate(ctx context.Context, dir string, is *identity.Use) error {
	for _, m := range p.Migrations {
		if m.To <= is.Schema {
			continue
		}
		if err := m.Run(ctx, dir); err != nil {
			return fmt.Errorf("upgrade data directory to schema %d, %s: %w; the next start tries it again, %s", m.To, m.Name, err, restoreOf(is.Begun))
		}
		is.Schema = m.To
		if err := identity.WriteUse(dir, *is); err != nil {
			return err
		}
	}
	is.Version, is.Upgraded, is.Begun = p.Version, is.Begun, nil

	return identity.WriteUse(dir, *is)
}
