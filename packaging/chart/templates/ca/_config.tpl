{{/* ca.yaml. Whose requests it takes, where its issuer is, its Lease and the name of its Service follow from namespaces and accounts. */}}
{{- define "signet.ca.config" -}}
{{- $namespace := include "signet.ca.namespace" . }}
{{- $agent := printf "%s/%s" (include "signet.agent.namespace" .) .Values.agent.account }}
{{- $derived := dict "trustDomain" .Values.trustDomain "nodeAgents" (list $agent) }}
{{- if not .Values.ca.config.issuer }}
{{- $_ := set $derived "issuer" (dict "secret" (dict "namespace" $namespace "name" "signet-ca-issuer")) }}
{{- end }}
{{- if ne $namespace "signet-system" }}
{{- $_ := set $derived "lease" (dict "namespace" $namespace) }}
{{- $_ := set $derived "listen" (dict "names" (list (printf "signet-ca.%s.svc" $namespace))) }}
{{- end }}
{{- toYaml (mustMergeOverwrite $derived (deepCopy .Values.ca.config)) }}
{{- end }}
