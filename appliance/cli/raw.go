// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// unknownAnswer is what the library says of an answer that is no text.
	unknownAnswer = "unknown"
	// noSuchPage is the text of Go's servers for a path that they do not have, which says less than the library.
	noSuchPage = "404 page not found"
)

// raw sends a request to a path that is not a resource, and returns the body of the answer. Its error is what the server said.
func raw(ctx context.Context, request *rest.Request) ([]byte, error) {
	data, err := request.DoRaw(ctx)
	if err != nil {
		return nil, said(err, data)
	}
	return data, nil
}

// said returns an error with the message of the server, a Status or plain text. For such requests, the library does not read it, and
// replaces it by a text of its own. The code and the reason stay.
func said(err error, body []byte) error {
	refused, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return err
	}
	status := refused.ErrStatus
	var told metav1.Status
	if json.Unmarshal(body, &told) == nil && told.Kind == "Status" && told.Message != "" {
		status.Message, status.Details = told.Message, told.Details
		if told.Reason != "" {
			status.Reason = told.Reason
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	if text := plainText(status); text != "" {
		status.Message = text
		return &apierrors.StatusError{ErrStatus: status}
	}
	return err
}

// plainText returns what the server said in plain text; empty if it said nothing.
func plainText(status metav1.Status) string {
	if status.Details == nil {
		return ""
	}
	for _, cause := range status.Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse && cause.Message != unknownAnswer && cause.Message != noSuchPage {
			return cause.Message
		}
	}
	return ""
}
