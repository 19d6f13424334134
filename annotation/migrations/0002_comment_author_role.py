from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_squashed")]

    operations = [migrations.RenameField("comment", "voice", "author_role")]
