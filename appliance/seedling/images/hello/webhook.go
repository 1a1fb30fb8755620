// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
)

const (
	// certificate and key are where a Secret is mounted.
	certificate = "/etc/hello/tls.crt"
	key         = "/etc/hello/tls.key"

	label, unwelcome = "hello", "unwelcome"
	// largest is the size of an object with its former state, as API servers send them.
	largest = 8 << 20
)

// review is what the program reads and writes of an AdmissionReview. The program has no part of Kubernetes in it, so that it stays small.
type review struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Request    *request `json:"request,omitempty"`
	Response   *verdict `json:"response,omitempty"`
}

type request struct {
	UID    string `json:"uid"`
	Object struct {
		Metadata struct {
			Name   string            `json:"name"`
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	} `json:"object"`
}

type verdict struct {
	UID     string  `json:"uid"`
	Allowed bool    `json:"allowed"`
	Status  *reason `json:"status,omitempty"`
}

type reason struct {
	Message string `json:"message"`
}

// webhook answers reviews under /validate.
func webhook() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /validate", func(w http.ResponseWriter, r *http.Request) {
		var asked review
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, largest)).Decode(&asked); err != nil || asked.Request == nil {
			http.Error(w, "this is no AdmissionReview", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review{APIVersion: asked.APIVersion, Kind: asked.Kind, Response: judge(asked.Request)})
	})
	return mux
}

func judge(asked *request) *verdict {
	object := asked.Object.Metadata
	if object.Labels[label] != unwelcome {
		return &verdict{UID: asked.UID, Allowed: true}
	}
	return &verdict{UID: asked.UID, Status: &reason{Message: fmt.Sprintf("%q is not welcome: it has the label %s=%s", object.Name, label, unwelcome)}}
}
