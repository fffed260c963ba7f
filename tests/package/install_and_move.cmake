# Installs the build, then moves it: consumers must find it in the new place.
# cmake -D BUILD=build -D FOLDER=folder [-D PROGRAM=ON] -P install_and_move.cmake
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/first COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${FOLDER}/first ${FOLDER}/moved)

if(PROGRAM)
  foreach(file bin/holdfast share/man/man1/holdfast.1.gz share/man/man1/holdfast-run.1.gz
               share/bash-completion/completions/holdfast share/zsh/site-functions/_holdfast
               share/fish/vendor_completions.d/holdfast.fish)
    if(NOT EXISTS ${FOLDER}/moved/${file})
      message(FATAL_ERROR "${file} was not installed")
    endif()
  endforeach()
  execute_process(COMMAND ${FOLDER}/moved/bin/holdfast --version COMMAND_ERROR_IS_FATAL ANY)
endif()
