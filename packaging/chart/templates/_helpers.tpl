{{/* Names of objects are fixed: there is one Signet in a cluster, whatever its releases are called. */}}

{{/* Labels of an object: (list . "signet-agent"). */}}
{{- define "signet.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/part-of: signet
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end }}

{{- define "signet.agent.namespace" -}}{{ .Values.agent.namespace | default .Release.Namespace }}{{- end }}
{{- define "signet.ca.namespace" -}}{{ .Values.ca.namespace | default .Release.Namespace }}{{- end }}

{{- define "signet.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Who a role is for: (list . "agent"), (list . "ca"), or a group, (list . "system:nodes"). */}}
{{- define "signet.subject" -}}
{{- $root := index . 0 }}{{ $who := index . 1 -}}
{{- if eq $who "agent" -}}
- {kind: ServiceAccount, name: {{ $root.Values.agent.account }}, namespace: {{ include "signet.agent.namespace" $root }}}
{{- else if eq $who "ca" -}}
- {kind: ServiceAccount, name: {{ $root.Values.ca.account }}, namespace: {{ include "signet.ca.namespace" $root }}}
{{- else -}}
- {kind: Group, apiGroup: rbac.authorization.k8s.io, name: '{{ $who }}'}
{{- end }}
{{- end }}

{{/* A ClusterRole up to its rules, with its binding before it: (list . "signet-agent-pods" "agent"). */}}
{{- define "signet.clusterRole" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}{{ $who := index . 2 -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels: {{- include "signet.labels" (list $root (eq $who "ca" | ternary "signet-ca" "signet-agent")) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ $name }}}
subjects: {{- include "signet.subject" (list $root $who) | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels: {{- include "signet.labels" (list $root (eq $who "ca" | ternary "signet-ca" "signet-agent")) | nindent 4 }}
{{- end }}

{{/* The same of a Role: (list . "signet-ca-issuer" "ca" "signet-system"). */}}
{{- define "signet.role" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}{{ $who := index . 2 }}{{ $namespace := index . 3 -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: {{ $namespace }}
  labels: {{- include "signet.labels" (list $root (print "signet-" $who)) | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $name }}}
subjects: {{- include "signet.subject" (list $root $who) | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}
  namespace: {{ $namespace }}
  labels: {{- include "signet.labels" (list $root (print "signet-" $who)) | nindent 4 }}
{{- end }}

{{/* The binding of an admission policy: (list . "signet-agent-csr" "Deny"). */}}
{{- define "signet.policyBinding" -}}
{{- $root := index . 0 }}{{ $name := index . 1 -}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  labels: {{- include "signet.labels" (list $root (hasPrefix "signet-ca-" $name | ternary "signet-ca" "signet-agent")) | nindent 4 }}
spec:
  policyName: {{ $name }}
  validationActions: [{{ index . 2 }}]
{{- end }}

{{/* A list as a list of CEL strings. */}}
{{- define "signet.celList" -}}['{{ join "', '" . }}']{{- end }}
