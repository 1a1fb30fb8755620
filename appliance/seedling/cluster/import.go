// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terrarium-garden/terrarium/appliance/seedling/images"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// importAll imports all archives of the images folder into the container runtime.
func (c *Cluster) importAll(ctx context.Context) (string, error) {
	entries, err := os.ReadDir(c.ImagesDir)
	if err != nil {
		return "", fmt.Errorf("list archives: %w", err)
	}
	var archives []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".tar") {
			archives = append(archives, filepath.Join(c.ImagesDir, entry.Name()))
		}
	}
	if !slices.Contains(archives, images.ArchiveOf(c.ImagesDir, images.Pause)) {
		return "", fmt.Errorf("folder %q has no archive %s.tar, without which no pod starts: build it with \"seedling images build\"", c.ImagesDir, images.Pause)
	}
	imported, err := c.importArchives(ctx, archives)
	return fmt.Sprintf("%d imported, %d were there", imported, len(archives)-imported), err
}

// Load imports archives into the container runtime of a running cluster and skips those that exist already. It returns
// how many were new.
func (c *Cluster) Load(ctx context.Context, archives []string) (int, error) {
	return c.importArchives(ctx, archives)
}

// importArchives imports one archive after the other, the smallest first. In parallel they would compete for processors
// and disk, and two with a common layer would wait for each other.
func (c *Cluster) importArchives(ctx context.Context, archives []string) (int, error) {
	sizes := map[string]int64{}
	for _, archive := range archives {
		info, err := os.Stat(archive)
		if err != nil {
			return 0, fmt.Errorf("check archive: %w", err)
		}
		sizes[archive] = info.Size()
	}
	archives = slices.SortedFunc(slices.Values(archives), func(a, b string) int { return cmp.Compare(sizes[a], sizes[b]) })
	count := 0
	err := c.withRuntime(func(runtime *node.Runtime) error {
		for _, archive := range archives {
			fresh, err := c.importArchive(ctx, runtime, archive)
			if err != nil {
				return err
			}
			if fresh {
				count++
			}
		}
		return nil
	})
	return count, err
}

func (c *Cluster) importArchive(ctx context.Context, runtime *node.Runtime, archive string) (bool, error) {
	contents, err := images.ReadArchive(archive)
	if err != nil {
		return false, err
	}
	missing := false
	for _, image := range contents {
		for _, name := range image.Names {
			has, err := runtime.Has(ctx, name, image.ConfigDigest)
			if err != nil {
				return false, err
			}
			missing = missing || !has
		}
	}
	if missing {
		if err := runtime.Import(ctx, archive); err != nil {
			return false, err
		}
	}
	return missing, c.keepForMachines(archive, contents)
}

// keepForMachines puts the archives that every machine of a shoot imports into the folder that machines mount.
func (c *Cluster) keepForMachines(archive string, contents []images.Content) error {
	for _, image := range contents {
		for _, name := range image.Names {
			for _, wanted := range []string{images.Pause, images.Seedling, images.Hello} {
				if strings.HasPrefix(name, images.Registry+"/"+wanted+":") {
					return place(archive, images.ArchiveOf(c.config.ImagesDir(), wanted), 0o644)
				}
			}
		}
	}
	return nil
}
