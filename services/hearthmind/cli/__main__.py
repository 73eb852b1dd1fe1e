from hearthmind.cli import main

main()
