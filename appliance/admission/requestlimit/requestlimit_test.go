// SPDX-License-Identifier: Apache-2.0

package requestlimit_test

import (
	"fmt"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/requestlimit"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func request(name, user string, size int) *certificatesv1.CertificateSigningRequest {
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       certificatesv1.CertificateSigningRequestSpec{Username: user, Request: make([]byte, size)},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	var all []kind.Object
	for i := range 100 {
		all = append(all, request(fmt.Sprint("r", i), "rose", 1))
	}
	by := func(user string, size int) admissiontest.Request {
		return admissiontest.Request{Object: request("new", user, size), User: user}
	}
	approver := []string{"rose update certificatesigningrequests/approval "}
	admissiontest.Run(t, requestlimit.New, map[string]admissiontest.Case{
		"last":     {Reason: "a user has many requests", Objects: all[1:], Request: by("rose", 1)},
		"one more": {Reason: "and not any number", Objects: all, Request: by("rose", 1), Refused: []string{`"rose" has 100 certificate requests`}},
		"another":  {Reason: "those of others do not count", Objects: all, Request: by("thorn", 1)},
		"approver": {Reason: "who decides has no limit", Rights: approver, Objects: all, Request: by("rose", 64<<10)},
		"large":    {Reason: "a request is small", Request: by("rose", 32<<10), Refused: []string{"at most 32768 are allowed"}},
	})
}
