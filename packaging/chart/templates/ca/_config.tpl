{{/* ca.yaml. The names of its Service and the namespace of its Lease follow the namespace. */}}
{{- define "signet.ca.config" -}}
{{- $derived := dict "trustDomain" .Values.trustDomain }}
{{- $namespace := include "signet.ca.namespace" . }}
{{- if ne $namespace "signet-system" }}
{{- $_ := set $derived "lease" (dict "namespace" $namespace) }}
{{- $_ := set $derived "listen" (dict "names" (list (printf "signet-ca.%s.svc" $namespace))) }}
{{- end }}
{{- toYaml (mustMergeOverwrite $derived (deepCopy .Values.ca.config)) }}
{{- end }}
