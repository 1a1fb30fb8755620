// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	archive "helm.sh/helm/v4/pkg/chart/loader/archive"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// ErrInvalid marks every error that the chart or its values cause. Trying again with the same input
// does not help.
var ErrInvalid = errors.New("chart is not usable")

// Chart is a loaded chart. It can be rendered only once, because rendering removes the dependencies
// that the values disable.
type Chart struct {
	chart *helmchart.Chart
}

// Load reads a chart from a gzipped tarball, the form in which ControllerDeployments carry it.
func Load(tarball []byte) (*Chart, error) {
	files, err := archive.LoadArchiveFiles(bytes.NewReader(tarball))
	if err != nil {
		return nil, fmt.Errorf("%w: unpack archive: %w", ErrInvalid, err)
	}
	return load(files)
}

// LoadFS reads a chart from the root of a file system, for example an embedded one.
func LoadFS(files fs.FS) (*Chart, error) {
	var buffered []*archive.BufferedFile
	err := walk(files, func(name string, data []byte) error {
		buffered = append(buffered, &archive.BufferedFile{Name: name, Data: data})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return load(buffered)
}

// Name is the name of the chart as its Chart.yaml gives it.
func (c *Chart) Name() string { return c.chart.Name() }

// Pack writes the chart at the root of a file system as a gzipped tarball below a folder of the
// given name. Equal files give equal bytes: neither times nor owners are recorded.
func Pack(name string, files fs.FS) ([]byte, error) {
	var buf bytes.Buffer
	zipped := gzip.NewWriter(&buf)
	tarred := tar.NewWriter(zipped)
	err := walk(files, func(file string, data []byte) error {
		header := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     path.Join(name, file),
			Mode:     0o644,
			Size:     int64(len(data)),
			ModTime:  time.Unix(0, 0),
			Format:   tar.FormatUSTAR,
		}
		if err := tarred.WriteHeader(header); err != nil {
			return fmt.Errorf("write header of %q: %w", file, err)
		}
		_, err := tarred.Write(data)
		return err
	})
	if err := errors.Join(err, tarred.Close(), zipped.Close()); err != nil {
		return nil, fmt.Errorf("pack chart %q: %w", name, err)
	}
	return buf.Bytes(), nil
}

func load(files []*archive.BufferedFile) (*Chart, error) {
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := loaded.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if loaded.Metadata.Type == "library" {
		return nil, fmt.Errorf("%w: %q is a library chart and has no objects", ErrInvalid, loaded.Name())
	}
	return &Chart{chart: loaded}, nil
}

// walk calls visit for each regular file that can belong to a chart, in lexical order. Go files
// beside the chart (the embedding package) do not.
func walk(files fs.FS, visit func(name string, data []byte) error) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read chart folder %q: %w", name, err)
		}
		if entry.IsDir() || path.Ext(name) == ".go" {
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("read chart file %q: %w", name, err)
		}
		return visit(name, data)
	})
}
