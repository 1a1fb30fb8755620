// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// PowerCut leaves in a folder what a power cut leaves: what was synced, and of the rest each sector with a chance of reached.
// The process that wrote to it must have ended.
func PowerCut(dir, synced string, reached float64) error {
	names := map[string]bool{}
	for _, folder := range []string{dir, synced} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return fmt.Errorf("cut the power: %w", err)
		}
		for _, entry := range entries {
			names[entry.Name()] = true
		}
	}
	for name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "-shm") {
			// It is memory that processes share; SQLite never syncs it.
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("cut the power: %w", err)
			}

			continue
		}
		if err := cutFile(path, filepath.Join(synced, name), reached); err != nil {
			return fmt.Errorf("cut the power: %w", err)
		}
	}

	return nil
}

// cutFile makes a file what is left of it, and what is left what was synced.
func cutFile(path, synced string, reached float64) error {
	now, nowExists, err := read(path)
	if err != nil {
		return err
	}
	kept, keptExists, err := read(synced)
	if err != nil {
		return err
	}
	switch {
	case !keptExists && rand.Float64() >= reached: //nolint:gosec // Chance, not a secret.
		// Nobody has synced it: it may be empty, and so it is here, as others look for the name.
		now = nil
	case nowExists && keptExists:
		now = mix(kept, now, reached)
	case keptExists && rand.Float64() >= reached: //nolint:gosec // Chance, not a secret.
		// The removal has not reached the disk.
		now, nowExists = kept, true
	}
	if !nowExists {
		return os.Remove(synced)
	}

	return errors.Join(os.WriteFile(path, now, 0o600), os.WriteFile(synced, now, 0o600))
}

func read(path string) (content []byte, exists bool, err error) {
	content, err = os.ReadFile(path) //nolint:gosec // The test's own.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}

	return content, err == nil, err
}

// mix takes each sector from what was written or from what was there before.
func mix(before, now []byte, reached float64) []byte {
	length := len(before)
	if rand.Float64() < reached { //nolint:gosec // Chance, not a secret.
		length = len(now)
	}
	left := make([]byte, length)
	copy(left, before)
	for at := 0; at < length; at += sector {
		if at >= len(now) || rand.Float64() >= reached { //nolint:gosec // Chance, not a secret.
			continue
		}
		copy(left[at:min(at+sector, length)], now[at:])
	}

	return left
}
