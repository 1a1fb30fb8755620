// SPDX-License-Identifier: Apache-2.0

package telemetry

import "regexp"

// secretForms are the forms of credentials in texts.
func secretForms() []*regexp.Regexp {
	return []*regexp.Regexp{
		// Tokens of service accounts and users.
		regexp.MustCompile(`eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*`),
		// Bootstrap tokens.
		regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`),
		// Passwords in URLs.
		regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@`),
		// PEM blocks in base64, such as in kubeconfigs.
		regexp.MustCompile(`LS0tLS1CRUdJTi[0-9A-Za-z+/=]+`),
		// Values of keys that name a credential.
		regexp.MustCompile(`(?i)(password|passwd|secret[-_]?(access)?[-_]?key|client[-_]?secret|api[-_]?key|auth[-_]?token)["']?\s*[:=]\s*["']?[^\s"',;]+`),
	}
}

// Scrub masks credentials in a text that leaves the machine, more strictly than in logs.
func Scrub(text string) string {
	text = scrub(text)
	for _, form := range secretForms() {
		text = form.ReplaceAllString(text, mask)
	}

	return text
}
