// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
)

// A request consists of what its client has written: also its method, the ID of its event and each part of its path. So every text in an
// event is cut off that is not a body, which only the policy of an operator asks for. Without that, one request of a stranger would fill a
// megabyte of the log, and a line that is longer than the search reads would hide what its author did.

// text is a text in an event with its greatest length.
type text struct {
	at   *string
	most int
}

// texts are those that a client chooses. Audit IDs are not among them, because they have a type of their own.
func texts(e *auditinternal.Event) []text {
	all := []text{{&e.RequestURI, maxURI}, {&e.UserAgent, maxAgent}, {&e.Verb, maxName}}
	all = append(all, textsOf(&e.User)...)
	if e.ImpersonatedUser != nil {
		all = append(all, textsOf(e.ImpersonatedUser)...)
	}
	if of := e.ObjectRef; of != nil {
		for _, at := range []*string{&of.Name, &of.Namespace, &of.Resource, &of.Subresource, &of.APIGroup, &of.APIVersion, &of.ResourceVersion, (*string)(&of.UID)} {
			all = append(all, text{at, maxName})
		}
	}
	if is := e.ResponseStatus; is != nil {
		all = append(all, text{&is.Message, maxText}, text{(*string)(&is.Reason), maxName})
	}

	return all
}

func textsOf(user *authenticationv1.UserInfo) []text {
	all := []text{{&user.Username, maxName}, {&user.UID, maxName}}
	for i := range user.Groups {
		all = append(all, text{&user.Groups[i], maxName})
	}

	return all
}

// long reports whether shorten would change an event.
func long(e *auditinternal.Event) bool {
	for _, t := range texts(e) {
		if len(*t.at) > t.most {
			return true
		}
	}
	for name, note := range e.Annotations {
		if len(name) > maxName || len(note) > maxText {
			return true
		}
	}
	is := e.ResponseStatus

	return len(e.AuditID) > maxID || len(e.SourceIPs) > maxAddresses || is != nil && is.Details != nil ||
		longUser(&e.User) || e.ImpersonatedUser != nil && longUser(e.ImpersonatedUser)
}

func longUser(user *authenticationv1.UserInfo) bool {
	return fitting(user.Groups) < len(user.Groups) || longExtra(user.Extra)
}

// fitting returns how many groups are recorded.
func fitting(groups []string) int {
	size := 0
	for i, group := range groups {
		if size += min(len(group), maxName); size > maxIdentity || i == maxGroups {
			return i
		}
	}

	return len(groups)
}

func longExtra(extra map[string]authenticationv1.ExtraValue) bool {
	if len(extra) > maxGroups {
		return true
	}
	total := 0
	for name, values := range extra {
		size := len(name)
		for _, v := range values {
			size += len(v)
		}
		if total += size; size > maxText || total > maxIdentity || len(values) > maxGroups {
			return true
		}
	}

	return false
}

// shorten cuts off what is too long. The details of a refusal repeat its message and the name of the object.
func shorten(e *auditinternal.Event) {
	shortenUser(&e.User)
	if e.ImpersonatedUser != nil {
		shortenUser(e.ImpersonatedUser)
	}
	for _, t := range texts(e) {
		*t.at = beginning(*t.at, t.most)
	}
	if len(e.AuditID) > maxID {
		e.AuditID = types.UID(beginning(string(e.AuditID), maxID))
	}
	// The last address is that of the connection. Those before it are what the client says, which could push it out.
	e.SourceIPs = e.SourceIPs[max(0, len(e.SourceIPs)-maxAddresses):]
	if e.ResponseStatus != nil {
		e.ResponseStatus.Details = nil
	}
	for name, note := range e.Annotations {
		if len(name) > maxName {
			delete(e.Annotations, name)

			continue
		}
		e.Annotations[name] = beginning(note, maxText)
	}
}

// shortenUser leaves out what nobody needs to know who it was. Long groups do not push out what tells which credentials were used.
func shortenUser(user *authenticationv1.UserInfo) {
	user.Groups = user.Groups[:fitting(user.Groups)]
	if longExtra(user.Extra) {
		user.Extra = nil
	}
}

// beginning returns the first bytes of a text, without a character that would be cut in two.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.ToValidUTF8(text[:most], "")
}
