{{/*
The kubeconfig with which the gardenlet requests its certificate: the given one, or one with the bootstrap token. The hash of the CA in
a join token is not needed, because the CA itself is given.
*/}}
{{- define "gardenlet.bootstrapKubeconfig" -}}
{{- if .Values.bootstrapKubeconfig -}}
{{ .Values.bootstrapKubeconfig }}
{{- else if .Values.garden.token -}}
{{- $server := required "garden.server is required with garden.token" .Values.garden.server -}}
{{- $ca := required "garden.ca is required with garden.token: an unverified garden could take over the seed" .Values.garden.ca -}}
{{- $token := regexReplaceAll "^T10[0-9a-f]+::" (trim .Values.garden.token) "" -}}
{{- dict "apiVersion" "v1" "kind" "Config" "current-context" "garden"
      "clusters" (list (dict "name" "garden" "cluster" (dict "server" $server "certificate-authority-data" (b64enc $ca))))
      "users" (list (dict "name" "bootstrap" "user" (dict "token" $token)))
      "contexts" (list (dict "name" "garden" "context" (dict "cluster" "garden" "user" "bootstrap"))) | toJson -}}
{{- end -}}
{{- end -}}
