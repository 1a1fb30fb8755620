// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// webhookDomain ends the names of webhooks of extensions: <name>.<extension without "provider-">.extensions.gardener.cloud (EXT-WH-5).
const webhookDomain = ".extensions.gardener.cloud"

// Explain says in words that an API server has refused a write because of a webhook of an extension, and what to do about it. The answer of
// the server is still in the error. All other errors are returned as they are.
func Explain(err error) error {
	if _, answered := errors.AsType[*apierrors.StatusError](err); !answered {
		return err
	}
	message := err.Error()
	if found := regexp.MustCompile(`failed calling webhook "([^"]+)"`).FindStringSubmatch(message); found != nil && ofExtension(found[1]) {
		return fmt.Errorf("the webhook %q of an extension does not answer, and nothing is written without it: look at the ControllerInstallation of "+
			"extension %q and at its pods in the seed; the operation goes on when it answers: %w", found[1], extensionOf(found[1]), err)
	}
	if found := regexp.MustCompile(`admission webhook "([^"]+)" denied the request`).FindStringSubmatch(message); found != nil && ofExtension(found[1]) {
		return fmt.Errorf("the webhook of extension %q refuses it: %w", extensionOf(found[1]), err)
	}
	return err
}

func ofExtension(webhook string) bool {
	return strings.HasSuffix(webhook, webhookDomain) && strings.Contains(strings.TrimSuffix(webhook, webhookDomain), ".")
}

// extensionOf is the name of an extension, as far as the name of its webhook says it.
func extensionOf(webhook string) string {
	_, extension, _ := strings.Cut(strings.TrimSuffix(webhook, webhookDomain), ".")
	return extension
}
