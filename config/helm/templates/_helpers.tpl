{{- define "fermata.name" -}}
{{- if contains "fermata" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-fermata{{ end }}
{{- end }}

{{- define "fermata.fullname" -}}
{{- include "fermata.name" . | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "fermata.selector" -}}
app.kubernetes.io/name: fermata
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "fermata.labels" -}}
{{ include "fermata.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "fermata.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "fermata.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "fermata.fullname" .) -}}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "fermata.isCluster" -}}
{{- if eq .Values.mode "cluster" }}true{{ end }}
{{- end }}

{{- define "fermata.hasBucket" -}}
{{- if hasPrefix "s3:" (dig "audio" "url" "" .Values.settings) }}true{{ end }}
{{- end }}

{{/* A process ends within jobs.drainSeconds and 10 s more. */}}
{{- define "fermata.stopSeconds" -}}
{{- add (ceil (dig "jobs" "drainSeconds" 300 .Values.settings)) 15 }}
{{- end }}

{{/* What values.schema.json cannot say: what one value asks of others. */}}
{{- define "fermata.check" -}}
{{- $storage := index .Values.secrets.env "FERMATA_STORAGE__URL" | default (dig "storage" "url" "" .Values.settings) }}
{{- if include "fermata.isCluster" . }}
{{- if not .Values.publicUrl }}{{ fail "publicUrl is required with mode: cluster" }}{{ end }}
{{- if hasPrefix "sqlite:" $storage }}
{{- fail "SQLite is for one pod: mode: cluster needs a FERMATA_STORAGE__URL that begins with mysql:" }}
{{- end }}
{{- if not .Values.secrets.existingSecret }}
{{- range list "FERMATA_STORAGE__URL" "FERMATA_QUEUE__URL" "FERMATA_SECRETS__KEY" }}
{{- if not (index $.Values.secrets.env .) }}
{{- fail (printf "mode: cluster needs secrets.env.%s, or secrets.existingSecret with it" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- if include "fermata.hasBucket" . }}{{ else if not .Values.persistence.enabled }}
{{- fail "mode: cluster needs a place for the audio: settings.audio.url of a bucket (s3:), or persistence.enabled" }}
{{- else if and (not .Values.persistence.existingClaim) (ne .Values.persistence.accessMode "ReadWriteMany") }}
{{- fail "persistence.accessMode must be ReadWriteMany with mode: cluster: serve and work share the audio" }}
{{- end }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}{{ fail "ingress.hosts names no host" }}{{ end }}
{{- if and .Values.secrets.existingSecret .Values.secrets.env }}
{{- fail "secrets.existingSecret and secrets.env cannot both be set" }}
{{- end }}
{{- end }}

{{/* The settings file: what the chart decides, then the operator's own. */}}
{{- define "fermata.settings" -}}
{{- $publicUrl := .Values.publicUrl | default "http://127.0.0.1:8080" }}
{{- $own := dict
  "dataDir" "/var/lib/fermata/data"
  "http" (dict "host" "0.0.0.0" "port" 8080 "publicUrl" $publicUrl)
  "logs" (dict "format" "json")
  "metrics" (ternary (dict "host" "0.0.0.0" "port" .Values.metrics.port) (dict "enabled" false) .Values.metrics.enabled)
}}
{{- if include "fermata.isCluster" . }}
{{- $_ := set $own "rateLimits" (dict "store" "shared") }}
{{- $_ := set $own "demo" (dict "enabled" false) }}
{{- end }}
{{- if .Values.admin.enabled }}
{{- $_ := set $own "admin" (dict "host" "0.0.0.0" "port" .Values.admin.port) }}
{{- end }}
{{- toYaml (mustMergeOverwrite $own (deepCopy .Values.settings)) }}
{{- end }}

{{- define "fermata.secretName" -}}
{{- .Values.secrets.existingSecret | default (include "fermata.fullname" .) }}
{{- end }}

{{- define "fermata.hasSecret" -}}
{{- if or .Values.secrets.existingSecret .Values.secrets.env }}true{{ end }}
{{- end }}

{{- define "fermata.claim" -}}
{{- .Values.persistence.existingClaim | default (include "fermata.fullname" .) }}
{{- end }}
