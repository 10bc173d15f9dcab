{{- define "labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "environment" -}}
envFrom:
  - secretRef:
      name: {{ .Values.secret }}
env:
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  - name: NODES
    value: {{ .Values.nodes.replicas | quote }}
  - name: MIGRATE_ON_START
    value: "false"
  - name: WEBHOOK_WORKER
    value: "false"
{{- end }}

{{- define "confined" -}}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "unprivileged" -}}
automountServiceAccountToken: false
# A Service named worker or internal would set WORKER_PORT or INTERNAL_PORT.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end }}
