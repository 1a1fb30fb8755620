// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxReport limits how much of the report of a failed probe is read.
const maxReport = 4 << 10

// Probe requests a URL and returns an error unless the answer is 200. The error has the failed checks of a Kubernetes health endpoint.
func Probe(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // Only read from.
	report, err := io.ReadAll(io.LimitReader(response.Body, maxReport))
	if err != nil {
		return fmt.Errorf("read answer of %s: %w", url, err)
	}
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var failed []string
	for line := range strings.Lines(string(report)) {
		if strings.HasPrefix(line, "[-]") {
			failed = append(failed, strings.TrimSpace(line))
		}
	}
	return fmt.Errorf("%s: %s %s", url, response.Status, strings.Join(failed, ", "))
}
