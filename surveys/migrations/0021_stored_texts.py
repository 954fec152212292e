"""Keep texts that anyone may load compressed, beginning with the manifests and their words.

The pages of surveys that run already are made when they are first opened.
"""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from surveys.stored_texts import squeeze


def compress(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    StoredText = apps.get_model("surveys", "StoredText")
    for wave in apps.get_model("surveys", "Wave").objects.order_by("pk").iterator(chunk_size=1):
        digest = bytes(wave.manifest_hash)
        texts = {"manifest": bytes(wave.manifest)} | {
            f"words {language}": words.encode() for language, words in wave.words.items()
        }
        for name, content in texts.items():
            StoredText.objects.create(
                name=f"{digest.hex()} {name}", wave=wave, key=digest, compressed=squeeze(content)
            )


class Migration(migrations.Migration):
    dependencies = [("surveys", "0020_due_work_is_indexed")]

    operations = [
        migrations.CreateModel(
            name="StoredText",
            fields=[
                (
                    "name",
                    models.CharField(max_length=200, primary_key=True, serialize=False),
                ),
                ("key", models.BinaryField(max_length=32)),
                ("compressed", models.BinaryField()),
                (
                    "wave",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stored_texts",
                        to="surveys.wave",
                    ),
                ),
            ],
            options={"db_table": "surveys_stored_text"},
        ),
        migrations.RunPython(compress, migrations.RunPython.noop),
    ]
