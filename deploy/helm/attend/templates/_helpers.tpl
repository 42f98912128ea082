{{- define "attend.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "attend.selector" -}}
app.kubernetes.io/name: attend
app.kubernetes.io/instance: {{ .Release.Name }}
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
Of one model by its name; of several the server's health: at least one. */}}
{{- define "attend.ready" -}}
{{- if include "attend.tlsSecret" . -}}
httpGet:
  port: http
  path: /readyz
{{- else -}}
grpc:
  port: 50051
  {{- if eq (len .Values.models) 1 }}
  service: {{ (first .Values.models).name }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "attend.volumes" -}}
{{- range .Values.models }}
{{- if .claim }}
- name: model-{{ .name }}
  persistentVolumeClaim:
    claimName: {{ .claim }}
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
    claimName: {{ .Values.hub.cacheClaim }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
{{- with include "attend.tlsSecret" . }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 288  # 0440
{{- end }}
{{- with .Values.tenants.secretName }}
- name: tenants
  secret:
    secretName: {{ . }}
    defaultMode: 288
{{- end }}
{{- end -}}

{{/* Not empty if a model is of the hub. */}}
{{- define "attend.hubs" -}}
{{- range .Values.models }}{{ with .hub }}{{ . }} {{ end }}{{ end -}}
{{- end -}}
