// SPDX-License-Identifier: Apache-2.0

package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// bundlePath is the path of the support bundle.
const bundlePath = "/appliance/support-bundle"

// supportBundle is an archive of what those need to know who find out what is wrong with a server.
type supportBundle struct {
	config   *gardenconfigv1alpha1.ServerConfiguration
	logs     *telemetry.Control
	clock    clock.PassiveClock
	version  string
	examiner *examiner
	// live returns what reads objects from the store; nil while the server starts.
	live func() *client.Reader
}

// page is the mount of the support bundle, for those whom RBAC permits.
func (b *supportBundle) page() gateway.Mount {
	return gateway.Mount{
		Path: bundlePath, Who: gateway.Authorized, Limits: gateway.Limits{Parallel: 1},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var archive bytes.Buffer
			if err := b.write(r.Context(), &archive); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)

				return
			}
			w.Header().Set("Content-Type", "application/gzip")
			w.Header().Set("Cache-Control", "no-store")
			w.Write(archive.Bytes()) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.
		}),
	}
}

// file is a file of the bundle.
type file struct {
	name  string
	write func(ctx context.Context, w io.Writer) error
}

// files are its files. What cannot be gathered is left out, with the reason in its place.
func (b *supportBundle) files() []file {
	all := []file{
		{"version.json", func(_ context.Context, w io.Writer) error { return encode(w, b.versions()) }},
		{"configuration.yaml", func(_ context.Context, w io.Writer) error {
			text, err := yaml.Marshal(options.WithoutSecrets(b.config))
			if err == nil {
				_, err = w.Write(text)
			}

			return err
		}},
		{"status.json", func(ctx context.Context, w io.Writer) error {
			is, counted := b.examiner.status(), b.examiner.digest(ctx)
			is.Seeds, is.Shoots, is.Findings = counted.seeds, counted.shoots, counted.findings

			return encode(w, is)
		}},
		{"doctor.json", func(ctx context.Context, w io.Writer) error {
			report, err := b.examiner.examine(ctx)
			if err != nil {
				return err
			}

			return encode(w, report)
		}},
		{"metrics.txt", writeMetrics},
		{"server.log", func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, b.logs.Recent())

			return err
		}},
		{"goroutines.txt", func(_ context.Context, w io.Writer) error { return pprof.Lookup("goroutine").WriteTo(w, 1) }},
	}
	for _, kind := range bundledKinds() {
		all = append(all, file{"objects/" + kind.Kind + ".json", func(ctx context.Context, w io.Writer) error {
			return b.writeObjects(ctx, w, kind)
		}})
	}

	return all
}

func encode(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")

	return encoder.Encode(v)
}

func (b *supportBundle) versions() map[string]any {
	info := map[string]any{"version": b.version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "time": b.clock.Now().UTC()}
	if build, ok := debug.ReadBuildInfo(); ok {
		modules := map[string]string{}
		for _, m := range build.Deps {
			modules[m.Path] = m.Version
		}
		info["modules"] = modules
	}

	return info
}

// writeMetrics writes those of the process, without labels that name users.
func writeMetrics(_ context.Context, w io.Writer) error {
	families, err := prometheus.Gatherers{legacyregistry.DefaultGatherer, ctrlmetrics.Registry}.Gather()
	encoder := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if encodeErr := encoder.Encode(family); encodeErr != nil {
			return encodeErr
		}
	}
	if len(families) > 0 {
		return nil // Metrics that both have are reported as errors, beside all others.
	}

	return err
}

// write writes the archive. Every file goes through the same mask of credentials, whatever it contains.
func (b *supportBundle) write(ctx context.Context, w io.Writer) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, f := range b.files() {
		var content bytes.Buffer
		if err := f.write(ctx, &content); err != nil {
			content.Reset()
			fmt.Fprintf(&content, "not gathered: %v\n", err)
		}
		text := telemetry.Scrub(content.String())
		header := &tar.Header{Name: "terrarium-support/" + f.name, Mode: 0o600, Size: int64(len(text)), ModTime: b.clock.Now().Truncate(time.Second)}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("write support bundle: %w", err)
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return fmt.Errorf("write support bundle: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write support bundle: %w", err)
	}

	return zipped.Close()
}
