// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// caller sends plain requests, so that a body can be anything that is JSON.
type caller struct {
	host   string
	client *http.Client
}

// answer is what a garden says to a request.
type answer struct {
	code     int
	body     []byte
	warnings []string
}

// ask sends one request.
func (c caller) ask(ctx context.Context, method, path string, body any) (answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return answer{}, fmt.Errorf("encode request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.host+path, bytes.NewReader(raw))
	if err != nil {
		return answer{}, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, fmt.Errorf("read answer to %s %s: %w", method, path, err)
	}

	return answer{code: response.StatusCode, body: content, warnings: response.Header.Values("Warning")}, nil
}

// String is the answer on one line: the code, then reason and field of each complaint, then the warnings.
func (a answer) String() string {
	parts := []string{fmt.Sprintf("%d", a.code)}
	if a.code >= http.StatusBadRequest {
		parts = append(parts, a.complaints()...)
	}
	for _, w := range a.warnings {
		parts = append(parts, fmt.Sprintf("! %s", strings.TrimPrefix(w, "299 - ")))
	}

	return strings.Join(parts, " ")
}

// complaints are the causes of a refusal, sorted, as "Reason field"; without causes it is the reason of the refusal.
func (a answer) complaints() []string {
	status := metav1.Status{}
	if err := json.Unmarshal(a.body, &status); err != nil {
		return []string{"(not a Status)"}
	}
	if status.Details == nil || len(status.Details.Causes) == 0 {
		return []string{string(status.Reason)}
	}
	var causes []string
	for _, c := range status.Details.Causes {
		causes = append(causes, strings.TrimPrefix(string(c.Type), "FieldValue")+" "+c.Field)
	}
	slices.Sort(causes)

	return []string{strings.Join(slices.Compact(causes), ", ")}
}

// beside is the answer without warnings that are usual, except in the answer that shows them all.
func (a answer) beside(usual []string, all bool) answer {
	if !all {
		a.warnings = slices.DeleteFunc(slices.Clone(a.warnings), func(w string) bool { return slices.Contains(usual, w) })
	}

	return a
}
