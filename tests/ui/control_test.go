// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// control serves what the tests of the browser cannot do themselves, and returns its URL:
//
//	POST /code            the code of a new one-time link
//	POST /token?user=NAME a token of a service account in the namespace garden-meadow
//	POST /join            runs the command in the body, which joins a seed
//	POST /gardenlet?shoot=NAME
//	                      an operation on the shoot, as its gardenlet would run it; fail=ID makes a task of it fail
//	POST /reach?shoot=NAME
//	                      what gardenlets publish of a shoot for those who want a kubeconfig
//	POST /create          objects in YAML, unless they are there
//	POST /patch?path=PATH a merge patch of an object by somebody else, with its API path
func (w *world) control() string {
	mux := http.NewServeMux()
	handle := func(path string, do func(r *http.Request) (string, error)) {
		mux.HandleFunc("POST "+path, func(out http.ResponseWriter, r *http.Request) {
			text, err := do(r)
			if err != nil {
				http.Error(out, err.Error(), http.StatusInternalServerError)

				return
			}
			_, _ = io.WriteString(out, text)
		})
	}
	handle("/code", func(r *http.Request) (string, error) { return w.code(r.Context()) })
	handle("/token", func(r *http.Request) (string, error) {
		owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: r.URL.Query().Get("user")}}
		request := &authenticationv1.TokenRequest{}
		err := w.Client.SubResource("token").Create(r.Context(), owner, request)

		return request.Status.Token, err
	})
	handle("/join", func(r *http.Request) (string, error) {
		command, err := io.ReadAll(r.Body)
		if err != nil {
			return "", err
		}

		return "", w.join(string(command))
	})
	handle("/gardenlet", func(r *http.Request) (string, error) { return "", w.reconcile(r.Context(), r) })
	handle("/reach", func(r *http.Request) (string, error) { return "", w.publish(r.Context(), r.URL.Query().Get("shoot")) })
	handle("/create", func(r *http.Request) (string, error) { return "", w.createAll(r.Context(), r.Body) })
	handle("/patch", func(r *http.Request) (string, error) {
		text, err := w.asAdmin(r.Context(), http.MethodPatch, r.URL.Query().Get("path"), "application/merge-patch+json", r.Body)

		return string(text), err
	})
	server := httptest.NewServer(mux)
	w.t.Cleanup(server.Close)

	return server.URL
}

// code makes a one-time link and returns its code.
func (w *world) code(ctx context.Context) (string, error) {
	text, err := w.asAdmin(ctx, http.MethodPost, "/ui/links", "", nil)
	link := struct{ Code string }{}
	if err == nil {
		err = json.Unmarshal(text, &link)
	}

	return link.Code, err
}

// createAll creates objects in YAML.
func (w *world) createAll(ctx context.Context, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := w.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

// asAdmin sends a request with the certificate of the administrator, which is another one after a change of the authorities.
func (w *world) asAdmin(ctx context.Context, method, path, kind string, body io.Reader) ([]byte, error) {
	config, err := clientcmd.BuildConfigFromFlags("", w.Kubeconfig)
	if err != nil {
		return nil, err
	}
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, w.Server+path, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	response, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // nothing is written
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}

	return text, err
}
