"""The usual intake: a serializer validates, the ORM stores in a transaction, the reply is 201.

The view makes the same checks as the intake and refuses the same reports. It has no limit per
address, no limit on waiting requests and no rule about origins, so it does less work, not more.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aggregator.intake.wire import ALPHABET
from aggregator.models import RawReport, SpentId
from surveys.models import Wave

TEXT = re.compile(r"[A-Za-z0-9_-]{43}")
CODES = bytes.maketrans(ALPHABET, bytes(range(64)))


class BytesField(serializers.Field[bytes, str, str, Any]):
    """32 bytes in unpadded base64url."""

    def to_internal_value(self, data: str) -> bytes:
        if not isinstance(data, str) or not TEXT.fullmatch(data):
            raise serializers.ValidationError("must be 43 characters of base64url")
        value = base64.urlsafe_b64decode(f"{data}=")
        if base64.urlsafe_b64encode(value).decode() != f"{data}=":
            raise serializers.ValidationError("must be canonical")
        return value


class ReportSerializer(serializers.Serializer[Any]):
    format = serializers.IntegerField(min_value=1, max_value=1)
    manifest = BytesField()
    id = BytesField()
    symbols = serializers.RegexField(r"^[A-Za-z0-9_-]+$", max_length=100)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wave = Wave.objects.filter(manifest_hash=attrs["manifest"]).first()
        if wave is None:
            raise serializers.ValidationError("unknown manifest")
        now = timezone.now()
        if (wave.opens_at and now < wave.opens_at) or (wave.closes_at and now >= wave.closes_at):
            raise serializers.ValidationError("not open")
        if not wave.is_open:
            raise serializers.ValidationError("closed")
        codes = attrs["symbols"].encode().translate(CODES)
        questions = wave.description.questions
        if len(codes) != len(questions):
            raise serializers.ValidationError("wrong length")
        if any(code >= question.k for code, question in zip(codes, questions, strict=True)):
            raise serializers.ValidationError("symbol out of range")
        return {"wave": wave, "id": attrs["id"], "symbols": codes}


class Reports(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def post(self, request: Request) -> Response:
        report = ReportSerializer(data=request.data)
        report.is_valid(raise_exception=True)
        values = report.validated_data
        try:
            with transaction.atomic():
                SpentId.objects.create(id=values["id"], wave=values["wave"])
                RawReport.objects.create(**values)
        except IntegrityError:
            return Response({"status": "already-recorded"}, status=status.HTTP_200_OK)
        return Response({"status": "recorded"}, status=status.HTTP_201_CREATED)
