{{/* agent.yaml. */}}
{{- define "signet.agent.config" -}}
{{- $derived := dict "trustDomain" .Values.trustDomain }}
{{- $namespace := include "signet.agent.namespace" . }}
{{- if and .Values.agent.config.localCa (ne $namespace "signet-system") }}
{{- $_ := set $derived "localCa" (dict "names" (list (printf "signet-local-ca.%s.svc" $namespace))) }}
{{- end }}
{{- toYaml (mustMergeOverwrite $derived (deepCopy .Values.agent.config)) }}
{{- end }}

{{/*
What the configuration needs of the cluster, as YAML:
nodeAudiences: audiences of tokens of the agent's own; workloadAudiences: of tokens of workloads, got as the node;
csrSigners, podCertificateSigners: signers that are asked; certManager; configMaps: names of watched ones, by namespace;
trustBundles; localCa: its port, or 0; namespaces; asNode: whether it acts as its node; apiServer: whether it calls the API server.
*/}}
{{- define "signet.agent.needs" -}}
{{- $config := .Values.agent.config }}
{{- $nodeAudiences := list }}{{ $workloadAudiences := list }}{{ $csrSigners := list }}{{ $podCertificateSigners := list }}
{{- $certManager := false }}
{{- $sources := list }}
{{- range $config.upstreams }}
  {{- if eq .kind "istio" }}
    {{- $audience := .audience | default "istio-ca" }}
    {{- if eq (.auth | default "node") "node" }}{{ $nodeAudiences = append $nodeAudiences $audience }}
    {{- else }}{{ $workloadAudiences = append $workloadAudiences $audience }}{{ end }}
    {{- $sources = append $sources .tls.roots }}
  {{- else if eq .kind "kubernetes-csr" }}{{ $csrSigners = append $csrSigners .signerName }}
  {{- else if eq .kind "pod-certificate" }}{{ $podCertificateSigners = append $podCertificateSigners .signerName }}
  {{- else if eq .kind "cert-manager" }}{{ $certManager = true }}
  {{- end }}
  {{- with .roots }}{{ $sources = append $sources . }}{{ end }}
{{- end }}
{{- range dig "trustBundle" "sources" list $config }}{{ $sources = append $sources . }}{{ end }}
{{- $configMaps := dict }}{{ $trustBundles := false }}
{{- range $sources }}
  {{- if eq .kind "configmap" }}
    {{- $_ := set $configMaps .namespace (append (dig .namespace list $configMaps) .name | uniq | sortAlpha) }}
  {{- end }}
  {{- if eq .kind "cluster-trust-bundle" }}{{ $trustBundles = true }}{{ end }}
{{- end }}
{{- $localCa := dig "localCa" "address" "" $config | splitList ":" | last | default "0" | int }}
{{- $namespaces := dig "pods" "namespaces" false $config }}
{{- $asNode := or (eq .Values.agent.pods "as-node") (gt (add (len $workloadAudiences) (len $podCertificateSigners)) 0) $certManager }}
{{- $apiServer := or $asNode (ne .Values.agent.pods "kubelet-socket") (gt $localCa 0) $namespaces $trustBundles
  (gt (add (len $csrSigners) (len $configMaps)) 0) }}
{{- toYaml (dict
  "nodeAudiences" (uniq $nodeAudiences)
  "workloadAudiences" (uniq $workloadAudiences)
  "csrSigners" (uniq $csrSigners)
  "podCertificateSigners" (uniq $podCertificateSigners)
  "certManager" $certManager
  "configMaps" $configMaps
  "trustBundles" $trustBundles
  "localCa" $localCa
  "namespaces" $namespaces
  "asNode" $asNode
  "apiServer" $apiServer) }}
{{- end }}
