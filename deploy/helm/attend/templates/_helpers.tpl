{{/* Names of services begin with a letter, and have no dots. */}}
{{- define "attend.name" -}}
{{- $name := .Release.Name | replace "." "-" -}}
{{- if not (regexMatch "^[a-z]" $name) }}{{ $name = print "attend-" $name }}{{ end -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* A value as the server and Kubernetes read it: numbers of YAML are floats
here, and large ones would be 3.3554432e+07; a list has commas. */}}
{{- define "attend.text" -}}
{{- if kindIs "slice" . -}}{{ join "," . }}
{{- else if not (kindIs "float64" .) -}}{{ . | toString }}
{{- else if eq . (floor .) -}}{{ printf "%.0f" . }}
{{- else -}}{{ . | toString }}
{{- end -}}
{{- end -}}

{{- define "attend.selector" -}}
app.kubernetes.io/name: attend
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "attend.labels" -}}
{{ include "attend.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{/* A duration of the server's options in seconds: "90s", "10m". */}}
{{- define "attend.seconds" -}}
{{- $text := . | toString -}}
{{- if hasSuffix "m" $text -}}{{ mul 60 (trimSuffix "m" $text | int) }}
{{- else -}}{{ trimSuffix "s" $text | int }}
{{- end -}}
{{- end -}}

{{/* The directory of a model. */}}
{{- define "attend.path" -}}
{{- if or .claim .image -}}/models/{{ .name }}{{ with .path }}/{{ . }}{{ end }}
{{- else -}}{{ .path }}
{{- end -}}
{{- end -}}

{{- define "attend.tlsSecret" -}}
{{- if .Values.tls.secretName -}}{{ .Values.tls.secretName }}
{{- else if .Values.tls.issuer -}}{{ include "attend.name" . }}-tls
{{- end -}}
{{- end -}}

{{/* How a probe asks whether calls are served. gRPC probes speak plain text.
Of one model by its name; of several the server's health: at least one. Probes
of the kubelet have no key, so where health needs one, the server's own program
asks. */}}
{{- define "attend.ready" -}}
{{- if include "attend.healthKey" . -}}
exec:
  command: [/usr/bin/attend-server, --health-check]
{{- else if include "attend.tlsSecret" . -}}
httpGet:
  port: http
  path: /readyz
{{- else -}}
grpc:
  port: 50051
  {{- if eq (len .Values.models) 1 }}
  service: {{ (first .Values.models).name | quote }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* Whether the server is alive, which it is while it drains, too. */}}
{{- define "attend.live" -}}
{{- if include "attend.healthKey" . -}}
exec:
  command: [/usr/bin/attend-server, --live-check]
{{- else -}}
httpGet:
  port: http
  path: /livez
{{- end -}}
{{- end -}}

{{/* Not empty if health needs a key. */}}
{{- define "attend.healthKey" -}}
{{- if index .Values.options "health-key-sha256" -}}
{{- required "options.health-key-sha256 needs health.secretName: probes send the key" .Values.health.secretName -}}
{{- end -}}
{{- end -}}

{{/* Not empty if a ServiceMonitor sends the key that /metrics needs. */}}
{{- define "attend.metricsKey" -}}
{{- if index .Values.options "metrics-key-sha256" -}}
{{- if eq .Values.metrics.scrape "annotations" -}}
{{- fail "options.metrics-key-sha256 needs metrics.scrape serviceMonitor or none: annotations carry no key" -}}
{{- else if .Values.inferencePool.enabled -}}
{{- fail "options.metrics-key-sha256 excludes inferencePool: its picker has no key for /metrics" -}}
{{- else if eq .Values.metrics.scrape "serviceMonitor" -}}
{{- required "options.metrics-key-sha256 needs metrics.secretName: Prometheus sends the key" .Values.metrics.secretName -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "attend.volumes" -}}
{{- range .Values.models }}
{{- if .claim }}
- name: model-{{ .name }}
  persistentVolumeClaim:
    claimName: {{ .claim | quote }}
    readOnly: true
{{- else if .image }}
{{- if semverCompare "<1.31.0-0" $.Capabilities.KubeVersion.Version }}
{{- fail "a model's image needs Kubernetes 1.31 or later" }}
{{- end }}
- name: model-{{ .name }}
  image:
    reference: {{ .image | quote }}
    pullPolicy: IfNotPresent
{{- end }}
{{- end }}
{{- if include "attend.hubs" . }}
- name: cache
  {{- if .Values.hub.cacheClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.hub.cacheClaim | quote }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
{{- with include "attend.tlsSecret" . }}
- name: tls
  secret:
    secretName: {{ . | quote }}
    defaultMode: 288  # 0440
{{- end }}
{{- with .Values.tenants.secretName }}
- name: tenants
  secret:
    secretName: {{ . | quote }}
    defaultMode: 288
{{- end }}
{{- end -}}

{{/* Not empty if a model is of the hub. */}}
{{- define "attend.hubs" -}}
{{- range .Values.models }}{{ with .hub }}{{ . }} {{ end }}{{ end -}}
{{- end -}}
